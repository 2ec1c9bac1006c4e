"""PyTorch's side: an update of an encoder-decoder, attention, an update of nanoGPT's model for CPUs.

    peer_torch.py CASE VARIANT --threads N --repeat N

CASE is a case of `glassformer bench`. VARIANT is eager or compile, f32 or bf16 (autocast), and for updates with padding
optionally `real`: scores of the real target positions only. "eager-bf16-real".
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from peer_server import serve
from sizes import FULL, SIZES, VOCABULARY, sentence_lengths

PAD, BOS, EOS, SPECIAL = 0, 2, 3, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("variant")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    variant = options.variant.split("-")
    run, tokens = make_case(options.case, variant)
    versions = {"PyTorch": torch.__version__, "ISA": torch.backends.cpu.get_cpu_capability()}
    # The first runs fill the allocator, and compile.
    serve(run, versions, tokens, options.repeat, warm_up=3)


def make_case(case: str, variant: list[str]) -> tuple[Callable[[], object], int]:
    kind, _, rest = case.partition("/")
    if kind == "train":
        return translation_update(rest, variant)
    if kind == "attention":
        mask, _, length = rest.partition("/")
        return attention_pass(int(length), mask == "causal", variant)
    if kind == "nanogpt":
        return character_update(variant)
    raise SystemExit(f"{case}: not a case of PyTorch's")


# --- translation


class Translation(nn.Module):
    """What TranslationModel is: pre-norm, sinusoidal positions, output tied to the target embedding."""

    def __init__(self, d_model: int, heads: int, d_ff: int, layers: int, longest: int):
        super().__init__()
        self.source_embedding = nn.Embedding(VOCABULARY, d_model)
        self.target_embedding = nn.Embedding(VOCABULARY, d_model)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, 0, d_model**-0.5)
        self.transformer = nn.Transformer(
            d_model, heads, layers, layers, d_ff, dropout=0.1, batch_first=True, norm_first=True
        )
        self.dropout = nn.Dropout(0.1)
        self.scale = math.sqrt(d_model)
        self.register_buffer("positions", sinusoids(longest, d_model))
        self.register_buffer("causal", nn.Transformer.generate_square_subsequent_mask(longest))

    def embed(self, embedding: nn.Embedding, ids: Tensor) -> Tensor:
        return self.dropout(embedding(ids) * self.scale + self.positions[: ids.shape[1]])

    def forward(self, source: Tensor, target: Tensor, padding: Tensor | None, real: Tensor | None) -> Tensor:
        """Scores [B,T,V], or [tokens,V] of the positions `real`."""
        length = target.shape[1]
        # No mask for the target's padding: it comes last, so causality hides it, and attention stays on its fast path.
        hidden = self.transformer(
            self.embed(self.source_embedding, source),
            self.embed(self.target_embedding, target),
            tgt_mask=self.causal[:length, :length],
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return (hidden if real is None else hidden[real]) @ self.target_embedding.weight.T


def sinusoids(length: int, d_model: int) -> Tensor:
    angle = torch.arange(length)[:, None] * torch.exp(-math.log(1e4) * torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def random_sentences(lengths: list[int]) -> list[Tensor]:
    return [torch.cat([torch.randint(SPECIAL, VOCABULARY, (n - 1,)), torch.tensor([EOS])]) for n in lengths]


def translation_update(name: str, variant: list[str]) -> tuple[Callable[[], object], int]:
    lengths = sentence_lengths(name)
    source = nn.utils.rnn.pad_sequence(random_sentences([s for s, _ in lengths]), batch_first=True, padding_value=PAD)
    labels = nn.utils.rnn.pad_sequence(random_sentences([t for _, t in lengths]), batch_first=True, padding_value=PAD)
    target = torch.cat([torch.full((len(lengths), 1), BOS), labels[:, :-1]], 1)
    padding = None if name in FULL else source == PAD
    real = labels != PAD if "real" in variant else None
    counted = labels.flatten() if real is None else labels[real]
    model = Translation(*SIZES[name.removesuffix("-full")], longest=max(source.shape[1], labels.shape[1]))

    def loss_of() -> Tensor:
        scores = model(source, target, padding, real).float().view(-1, VOCABULARY)
        return functional.cross_entropy(scores, counted, ignore_index=PAD, label_smoothing=0.1)

    return update_of(model, loss_of, variant), sum(s + t for s, t in lengths)


def update_of(model: nn.Module, loss_of: Callable[[], Tensor], variant: list[str]) -> Callable[[], object]:
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    forward = torch.compile(loss_of) if "compile" in variant else loss_of
    bf16 = "bf16" in variant

    def update() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = forward()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return update


# --- attention


def attention_pass(length: int, causal: bool, variant: list[str]) -> tuple[Callable[[], object], int]:
    batch = max(1, 4096 // length)
    dtype = torch.bfloat16 if "bf16" in variant else torch.float32
    query, key, value = (torch.randn(batch, 8, length, 64, dtype=dtype, requires_grad=True) for _ in range(3))
    grad = torch.randn(batch, 8, length, 64, dtype=dtype)

    def run() -> None:
        functional.scaled_dot_product_attention(query, key, value, is_causal=causal).backward(grad)
        query.grad = key.grad = value.grad = None

    return run, batch * length


# --- nanoGPT's model for CPUs: 4 layers, D 128, H 4, no biases, no dropout; 12 x 64 of 65 characters


class Block(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(d_model, bias=False)
        self.query_key_value = nn.Linear(d_model, 3 * d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)
        self.feed_forward_norm = nn.LayerNorm(d_model, bias=False)
        self.inner = nn.Linear(d_model, 4 * d_model, bias=False)
        self.outer = nn.Linear(4 * d_model, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        packed = self.query_key_value(self.attention_norm(x)).unflatten(2, (3, self.heads, -1))
        query, key, value = packed.permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.output(context.transpose(1, 2).flatten(2))
        return x + self.outer(functional.gelu(self.inner(self.feed_forward_norm(x))))


class CharacterModel(nn.Module):
    def __init__(self, vocabulary: int = 65, length: int = 64, d_model: int = 128, heads: int = 4, layers: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.positions = nn.Embedding(length, d_model)
        self.blocks = nn.ModuleList(Block(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model, bias=False)

    def forward(self, characters: Tensor) -> Tensor:
        x = self.embedding(characters) + self.positions.weight
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embedding.weight.T


def character_update(variant: list[str]) -> tuple[Callable[[], object], int]:
    model = CharacterModel()
    characters, labels = torch.randint(0, 65, (12, 64)), torch.randint(0, 65, (12, 64))

    def loss_of() -> Tensor:
        return functional.cross_entropy(model(characters).float().view(-1, 65), labels.view(-1))

    return update_of(model, loss_of, variant), labels.numel()


if __name__ == "__main__":
    main()
