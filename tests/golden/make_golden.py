#!/usr/bin/env python3
"""Writes data/nn and data/models: what PyTorch computes, float32, for the tests to compare with.

Usage: make_golden.py [OUTPUT_FOLDER]. Needs PyTorch 2.13 for CPUs; the same version gives the same files. A file holds
one case: its settings as metadata, and the tensors
    input.NAME  parameter.PATH  output  output_grad (dL/d(output), random)  grad.PATH  input_grad.NAME
and for a model also
    labels (or target)  loss  losses (before each of ten AdamW steps)  final.PATH (the parameters after them)
golden.h reads them.
"""
import json
import pathlib
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F

import reference

DTYPES = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}
STEPS, LEARNING_RATE, LABEL_SMOOTHING = 10, 3e-3, 0.1
ADAMW = dict(betas=(0.9, 0.98), eps=1e-8, weight_decay=0.01)


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(path, settings, tensors):
    """A .safetensors file with sorted keys, so that equal contents give equal bytes."""
    header, blobs, end = {"__metadata__": {k: text_of(v) for k, v in sorted(settings.items())}}, [], 0
    for name, tensor in sorted(tensors.items()):
        blob = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [end, end + len(blob)]}
        blobs.append(blob)
        end += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def randomize(module):
    """Nothing is left at 0 or 1, so that a bias or a gain that is forgotten shows."""
    for name, p in module.named_parameters():
        with torch.no_grad():
            if p.dim() > 1:
                p.copy_(torch.randn_like(p) / p.shape[1] ** 0.5)
            else:
                p.copy_(0.2 * torch.randn_like(p) + (1 if name.endswith("weight") else 0))


class Cases:
    """Writes a case, seeded by its name alone, so that one case does not change another."""

    def __init__(self, folder):
        self.folder = folder

    def seed(self, name):
        torch.manual_seed(sum(ord(c) * 31 ** i for i, c in enumerate(name)) % 2 ** 31)

    def add(self, name, kind, build, forward, inputs, **settings):
        """build() -> module or None; forward(module, **inputs) -> output; inputs() -> tensors by name; a floating one
        gets its gradient."""
        self.seed(name)
        module = build()
        if module is not None:
            randomize(module)
        leaves = {k: v.requires_grad_(v.is_floating_point()) for k, v in inputs().items()}
        output = forward(module, **leaves)
        output_grad = torch.randn_like(output)
        output.backward(output_grad)
        tensors = {"output": output, "output_grad": output_grad, **pack(module, leaves)}
        write(self.folder / "nn" / f"{name}.safetensors", {"kind": kind, **settings}, tensors)

    def add_model(self, name, config, model_class, inputs, labels, loss_of):
        """loss_of(output, labels) -> scalar."""
        self.seed(name)
        model = model_class(config)
        randomize(model)
        leaves = {k: v.requires_grad_(v.is_floating_point()) for k, v in inputs().items()}
        labels = labels()
        output = model(**leaves)
        loss = loss_of(output, labels)
        loss.backward()
        tensors = {"output": output, "loss": loss, "labels": labels, **pack(model, leaves)}
        losses, final = train(model, lambda: loss_of(model(**leaves), labels))
        tensors |= {"losses": losses, **{f"final.{k}": v for k, v in final.items()}}
        settings = {"kind": model_class.__name__, "config": json.dumps(config), "label_smoothing": LABEL_SMOOTHING,
                    "learning_rate": LEARNING_RATE, "beta1": ADAMW["betas"][0], "beta2": ADAMW["betas"][1],
                    "epsilon": ADAMW["eps"], "weight_decay": ADAMW["weight_decay"]}
        write(self.folder / "models" / f"{name}.safetensors", settings, tensors)


def pack(module, leaves):
    """Parameters, inputs, and the gradient of each; clones, since training changes the parameters."""
    tensors = {}
    for name, parameter, rows in reference.named_parameters(module) if module is not None else []:
        tensors[f"parameter.{name}"] = parameter[rows].detach().clone()
        tensors[f"grad.{name}"] = parameter.grad[rows].clone()
    for name, leaf in leaves.items():
        tensors[f"input.{name}"] = leaf.detach().clone()
        if leaf.grad is not None:
            tensors[f"input_grad.{name}"] = leaf.grad.clone()
    return tensors


def train(model, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, **ADAMW)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        losses.append(loss.detach())
        optimizer.step()
    return torch.stack(losses), {name: p[rows].detach().clone() for name, p, rows in reference.named_parameters(model)}


def layer_cases(cases):
    def plain(module, x):
        return module(x)

    cases.add("linear", "Linear", lambda: nn.Linear(7, 5), plain, lambda: {"x": torch.randn(2, 3, 7)}, inner=7, outer=5)
    cases.add("linear_without_bias", "Linear", lambda: nn.Linear(5, 9, bias=False), plain,
              lambda: {"x": torch.randn(4, 5)}, inner=5, outer=9)
    cases.add("layer_norm", "LayerNorm", lambda: nn.LayerNorm(21), plain,
              lambda: {"x": 3 * torch.randn(2, 3, 21) + 1}, d_model=21)
    cases.add("embedding", "TokenEmbedding", lambda: nn.Embedding(11, 6), lambda m, ids: m(ids) * 6 ** 0.5,
              lambda: {"ids": torch.tensor([[3, 0, 10, 3], [7, 7, 1, 0]])}, vocabulary=11, d_model=6)
    for form in ("none", "tanh"):
        cases.add(f"gelu_{'exact' if form == 'none' else form}", "gelu", lambda: None,
                  lambda _, x: F.gelu(x, approximate=form), lambda: {"x": 3 * torch.randn(5, 7)}, form=form)
    for activation in ("relu", "gelu"):
        cases.add(f"feed_forward_{activation}", "FeedForward",
                  lambda: nn.ModuleDict({"inner": nn.Linear(9, 14), "outer": nn.Linear(14, 9)}),
                  lambda m, x: m["outer"](getattr(F, activation)(m["inner"](x))),
                  lambda: {"x": torch.randn(2, 3, 9)}, d_model=9, d_ff=14, activation=activation)
    for d_model in (21, 16):
        cases.add(f"sinusoidal_{d_model}", "SinusoidalPositions", lambda: None,
                  lambda _, x: x + reference.sinusoidal_encoding(x.shape[1], d_model),
                  lambda: {"x": torch.randn(2, 30, d_model)}, d_model=d_model)
    cases.add("learned_positions", "LearnedPositions",
              lambda: reference.Positions({"positions": "learned", "max_positions": 7, "d_model": 6}), plain,
              lambda: {"x": torch.randn(2, 5, 6)}, d_model=6, max_positions=7)


def some_keys(*shape):
    """A user's own keep-mask, each row with at least one key. [..,T,S]"""
    keep = torch.rand(shape) < 0.5
    keep[..., 0] |= ~keep.any(-1)
    return keep


def attend(module, x, memory, causal, lengths, keep):
    blocked = None
    if causal:
        blocked = reference.blocked_after(x.shape[1])
    if keep is not None:
        blocked = ~keep.reshape(-1, *keep.shape[2:])  # [B·H,T,S]
    padded = None if lengths is None else reference.padding(lengths, memory.shape[1])
    return module(x, memory, memory, attn_mask=blocked, key_padding_mask=padded, need_weights=False)[0]


def attention_case(cases, name, d_model, heads, target, source=None, causal=False, lengths=None, keep=None):
    """keep: None, "shared" by examples and heads, or "each"."""
    batch = 3

    def inputs():
        tensors = {"x": torch.randn(batch, target, d_model)}
        if source:
            tensors["memory"] = torch.randn(batch, source, d_model)
        if lengths:
            tensors["lengths"] = torch.tensor(lengths)
        if keep:
            mask = some_keys(*((1, 1) if keep == "shared" else (batch, heads)), target, source or target)
            tensors["keep"] = mask.expand(batch, heads, -1, -1).contiguous()
        return tensors

    def forward(module, x, memory=None, lengths=None, keep=None):
        return attend(module, x, x if memory is None else memory, causal, lengths, keep)

    cases.add(name, "CrossAttention" if source else "SelfAttention",
              lambda: nn.MultiheadAttention(d_model, heads, batch_first=True), forward, inputs, d_model=d_model,
              heads=heads, mask="causal" if causal else "none")


def attention_cases(cases):
    lengths = [5, 2, 1]
    attention_case(cases, "attention_no_mask", 15, 3, 5)
    attention_case(cases, "attention_causal", 15, 3, 5, causal=True)
    attention_case(cases, "attention_lengths", 15, 3, 5, lengths=lengths)
    attention_case(cases, "attention_causal_and_lengths", 15, 3, 5, causal=True, lengths=lengths)
    attention_case(cases, "attention_own_mask", 15, 3, 5, keep="shared")
    attention_case(cases, "attention_mask_for_each_head", 15, 3, 5, keep="each")
    for heads in (1, 2, 4):
        attention_case(cases, f"attention_heads_{heads}", 12, heads, 5, causal=True, lengths=lengths)
    attention_case(cases, "attention_head_width_1", 6, 6, 5, causal=True, lengths=lengths)
    attention_case(cases, "attention_one_token", 8, 2, 1)
    attention_case(cases, "cross_attention_fewer_queries", 15, 3, 4, source=7, lengths=[7, 3, 1])
    attention_case(cases, "cross_attention_more_queries", 12, 4, 7, source=3, lengths=[3, 2, 1])
    attention_case(cases, "cross_attention_one_head", 12, 1, 4, source=7)
    attention_case(cases, "cross_attention_mask_for_each_head", 12, 2, 4, source=7, keep="each")


def product_case(cases, name, scale, bias=False, keep=False):
    """Scaled dot-product attention alone: T ≠ S, values of another width than keys."""
    def inputs():
        tensors = {"query": torch.randn(2, 3, 4, 5), "key": torch.randn(2, 3, 6, 5), "value": torch.randn(2, 3, 6, 7)}
        if bias:
            tensors["bias"] = torch.randn(3, 4, 6)
        if keep:
            tensors["keep"] = some_keys(2, 3, 4, 6)
        return tensors

    def forward(_, query, key, value, bias=None, keep=None):
        return F.scaled_dot_product_attention(query, key, value, attn_mask=keep if bias is None else bias, scale=scale)

    cases.add(name, "scaled_dot_product_attention", lambda: None, forward, inputs, scale=scale)


def stack_cases(cases):
    c = {"d_model": 9, "heads": 3, "d_ff": 14, "encoder_layers": 2, "decoder_layers": 2}

    def encoder_inputs():
        return {"x": torch.randn(2, 5, 9), "lengths": torch.tensor([5, 3])}

    def decoder_inputs():
        return {"x": torch.randn(2, 4, 9), "memory": torch.randn(2, 6, 9), "self_lengths": torch.tensor([2, 4]),
                "lengths": torch.tensor([6, 3])}

    def encode(module, x, lengths):
        return module(x, src_key_padding_mask=reference.padding(lengths, x.shape[1]))

    def decode(module, x, memory, self_lengths, lengths):
        return module(x, memory, tgt_mask=reference.blocked_after(x.shape[1]),
                      tgt_key_padding_mask=reference.padding(self_lengths, x.shape[1]),
                      memory_key_padding_mask=reference.padding(lengths, memory.shape[1]))

    def add(name, kind, build, **own):
        settings = {**c, **own}
        is_encoder = kind.startswith("Encoder")
        cases.add(name, kind, lambda: build(settings), encode if is_encoder else decode,
                  encoder_inputs if is_encoder else decoder_inputs, activation=settings.get("activation", "relu"),
                  d_model=9, heads=3, d_ff=14, layers=2, norm=settings["norm"],
                  final_norm=settings.get("final_norm", settings["norm"] == "pre"))

    for norm in ("pre", "post"):
        add(f"encoder_layer_{norm}", "EncoderLayer",
            lambda s: nn.TransformerEncoderLayer(**reference.layer_settings(s)), norm=norm)
        add(f"decoder_layer_{norm}", "DecoderLayer",
            lambda s: nn.TransformerDecoderLayer(**reference.layer_settings(s)), norm=norm)
        add(f"encoder_{norm}", "Encoder", reference.encoder, norm=norm)
        add(f"decoder_{norm}", "Decoder", reference.decoder, norm=norm)
    add("encoder_post_final_norm", "Encoder", reference.encoder, norm="post", final_norm=True, activation="gelu")
    add("decoder_pre_no_final_norm", "Decoder", reference.decoder, norm="pre", final_norm=False, activation="gelu")


PADDING = 0  # the label that counts nowhere


def translation_inputs():
    """Ids as in a real batch: a target that starts with a token of its own, and padding at the end of both."""
    return {"source": torch.tensor([[4, 9, 6, 3, 10], [7, 3, 0, 0, 0], [5, 5, 8, 3, 0]]),
            "source_lengths": torch.tensor([5, 2, 4]),
            "target": torch.tensor([[2, 8, 9, 4], [2, 5, 0, 0], [2, 10, 10, 0]])}


def translation_labels():
    return torch.tensor([[8, 9, 4, 3], [5, 3, 0, 0], [10, 10, 3, 0]])


def translation_loss(logits, labels):
    total = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PADDING, reduction="sum",
                            label_smoothing=LABEL_SMOOTHING)
    return total / (labels != PADDING).sum()


def translation_case(cases, name, **own):
    config = {"d_model": 9, "heads": 3, "d_ff": 13, "encoder_layers": 2, "decoder_layers": 1, "max_positions": 6,
              "target_vocabulary": 11, "source_vocabulary": 11 if own["tie_embeddings"] == "all" else 12, **own}
    cases.add_model(name, config, reference.TranslationModel, translation_inputs, translation_labels, translation_loss)


def forecast_case(cases, name, **own):
    config = {"d_model": 10, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 2, "input_features": 2,
              "positions": "sinusoidal", **own}
    cases.add_model(name, config, reference.ForecastModel,
                    lambda: {"history": torch.randn(3, 7, 2), "previous": torch.randn(3, 4, 2)},
                    lambda: torch.randn(3, 4, 2), F.mse_loss)


def model_cases(cases):
    for norm in ("pre", "post"):
        for tie in ("none", "output", "all"):
            for positions in ("sinusoidal", "learned"):
                translation_case(cases, f"translation_{norm}_tie_{tie}_{positions}", norm=norm, tie_embeddings=tie,
                                 positions=positions)
    translation_case(cases, "translation_wide", d_model=21, d_ff=24, encoder_layers=1, norm="post", final_norm=True,
                     tie_embeddings="output", positions="sinusoidal", activation="gelu")
    forecast_case(cases, "forecast_pre", norm="pre", activation="gelu")
    forecast_case(cases, "forecast_post", norm="post")


def main():
    torch.set_num_threads(1)
    here = pathlib.Path(__file__).parent
    cases = Cases(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "data")
    layer_cases(cases)
    attention_cases(cases)
    product_case(cases, "product_unscaled", 1.0)
    product_case(cases, "product_with_bias", 0.4, bias=True)
    product_case(cases, "product_with_mask", 5 ** -0.5, keep=True)
    stack_cases(cases)
    model_cases(cases)


if __name__ == "__main__":
    main()
