"""The Transformer in PyTorch's own modules, under this project's parameter names."""
import math

import torch
from torch import nn


def sinusoidal_encoding(count, d_model):
    """PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(the same); an odd D ends in a sine column. [count, D]"""
    position = torch.arange(count, dtype=torch.float64).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    encoding = torch.zeros(count, d_model, dtype=torch.float64)
    encoding[:, 0::2] = torch.sin(position * frequency)
    encoding[:, 1::2] = torch.cos(position * frequency[: d_model // 2])
    return encoding.float()


def blocked_after(count):
    """PyTorch's polarity: true where a query may not attend. [count, count]"""
    return torch.ones(count, count, dtype=torch.bool).triu(1)


def padding(lengths, count):
    """PyTorch's polarity: true where a key is padding. [B, count]"""
    return torch.arange(count).unsqueeze(0) >= lengths.unsqueeze(1)


def layer_settings(c):
    return dict(d_model=c["d_model"], nhead=c["heads"], dim_feedforward=c["d_ff"], dropout=0.0,
                activation=c.get("activation", "relu"), batch_first=True, norm_first=c["norm"] == "pre")


def final_norm(c):
    return nn.LayerNorm(c["d_model"]) if c.get("final_norm", c["norm"] == "pre") else None


def encoder(c):
    layer = nn.TransformerEncoderLayer(**layer_settings(c))
    return nn.TransformerEncoder(layer, c["encoder_layers"], final_norm(c), enable_nested_tensor=False)


def decoder(c):
    return nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer_settings(c)), c["decoder_layers"], final_norm(c))


class Positions(nn.Module):
    def __init__(self, c):
        super().__init__()
        if c["positions"] == "learned":
            self.weight = nn.Parameter(torch.empty(c["max_positions"], c["d_model"]))

    def forward(self, x):
        if hasattr(self, "weight"):
            return x + self.weight[: x.shape[1]]
        return x + sinusoidal_encoding(x.shape[1], x.shape[2])


class TranslationModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        tie = c["tie_embeddings"]
        self.target_embedding = nn.Embedding(c["target_vocabulary"], c["d_model"])
        self.source_embedding = (self.target_embedding if tie == "all"
                                 else nn.Embedding(c["source_vocabulary"], c["d_model"]))
        self.encoder_positions, self.decoder_positions = Positions(c), Positions(c)
        self.encoder, self.decoder = encoder(c), decoder(c)
        self.output = nn.Linear(c["d_model"], c["target_vocabulary"], bias=tie == "none")
        if tie != "none":
            self.output.weight = self.target_embedding.weight
        self.embedding_scale = math.sqrt(c["d_model"])

    def forward(self, source, source_lengths, target):
        padded = padding(source_lengths, source.shape[1])
        x = self.encoder_positions(self.source_embedding(source) * self.embedding_scale)
        memory = self.encoder(x, src_key_padding_mask=padded)
        y = self.decoder_positions(self.target_embedding(target) * self.embedding_scale)
        hidden = self.decoder(y, memory, tgt_mask=blocked_after(target.shape[1]), memory_key_padding_mask=padded)
        return self.output(hidden)


class ForecastModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.source_projection = nn.Linear(c["input_features"], c["d_model"])
        self.target_projection = nn.Linear(c["input_features"], c["d_model"])
        self.encoder_positions, self.decoder_positions = Positions(c), Positions(c)
        self.encoder, self.decoder = encoder(c), decoder(c)
        self.output = nn.Linear(c["d_model"], c["input_features"])

    def forward(self, history, previous):
        memory = self.encoder(self.encoder_positions(self.source_projection(history)))
        y = self.decoder_positions(self.target_projection(previous))
        return self.output(self.decoder(y, memory, tgt_mask=blocked_after(previous.shape[1])))


# Our name of each part of a PyTorch layer.
ENCODER_LAYER = {"self_attn": "self_attn", "norm1": "self_attn_residual.norm", "linear1": "feed_forward.inner",
                 "linear2": "feed_forward.outer", "norm2": "feed_forward_residual.norm"}
DECODER_LAYER = {**ENCODER_LAYER, "multihead_attn": "cross_attn", "norm2": "cross_attn_residual.norm",
                 "norm3": "feed_forward_residual.norm"}
RENAMED = {nn.TransformerEncoderLayer: ENCODER_LAYER, nn.TransformerDecoderLayer: DECODER_LAYER,
           nn.MultiheadAttention: {"out_proj": "output"}}


def all_names(module, prefix=""):
    """(our name, PyTorch's parameter, its rows) of each parameter, a tied one once for each of its names."""
    for name, parameter in module.named_parameters(recurse=False):
        if isinstance(module, nn.MultiheadAttention):
            d_model = module.embed_dim
            for i, part in enumerate(("query", "key", "value")):
                rows = slice(i * d_model, (i + 1) * d_model)
                yield f"{prefix}{part}.{name.removeprefix('in_proj_')}", parameter, rows
        else:
            yield prefix + name, parameter, slice(None)
    renamed = RENAMED.get(type(module), {})
    # Not named_children(), which gives a module that is there twice only once.
    for name, child in module._modules.items():
        if child is not None and not isinstance(child, nn.Dropout):
            yield from all_names(child, f"{prefix}{renamed.get(name, name)}.")


def named_parameters(module):
    """The same, a tied parameter once, under its first name."""
    seen = set()
    for name, parameter, rows in all_names(module):
        if (id(parameter), rows.start) not in seen:
            seen.add((id(parameter), rows.start))
            yield name, parameter, rows
