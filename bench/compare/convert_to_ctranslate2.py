"""Writes a translation model of ours as a CTranslate2 model with the same weights.

    convert_to_ctranslate2.py MODEL.safetensors DIRECTORY

CTranslate2 then gives the same translations, up to rounding, as `glassformer translate` with the default length norm.
"""

from __future__ import annotations

import os
import sys

import numpy
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation

from model_file import ModelFile, Tokenizer

MOST_POSITIONS = 1024


def convert(model: ModelFile, directory: str) -> None:
    spec = make_spec(model.config)
    for side, stack, layers in (("source", "encoder", spec.encoder), ("target", "decoder", spec.decoder)):
        embeddings = layers.embeddings[0] if isinstance(layers.embeddings, list) else layers.embeddings
        embeddings.weight = model.tensor(f"{side}_embedding.weight")
        layers.position_encodings.encodings = positions(model, stack)
        if model.config["final_norm"]:
            put_norm(layers.layer_norm, model, f"{stack}.norm")
        for index, layer in enumerate(layers.layer):
            put_layer(layer, model, f"{stack}.layers.{index}", has_memory=stack == "decoder")
    put_linear(spec.decoder.projection, model, ["output"])
    spec.register_source_vocabulary(Tokenizer(model.tokenizers["source"]).pieces)
    spec.register_target_vocabulary(Tokenizer(model.tokenizers["target"]).pieces)
    spec.config.add_source_eos = True
    spec.validate()
    os.makedirs(directory, exist_ok=True)
    spec.save(directory)


def make_spec(config: dict) -> TransformerSpec:
    pre_norm = config["norm"] == "pre"
    if config["attention_scale"] is not None:
        raise SystemExit("attention_scale: CTranslate2 multiplies scores by 1/sqrt(K) only")
    if config["final_norm"] and not pre_norm:
        raise SystemExit("final_norm: CTranslate2 has no final norm in a post-norm model")
    return TransformerSpec.from_config(
        (config["encoder_layers"], config["decoder_layers"]),
        config["heads"],
        pre_norm=pre_norm,
        no_final_norm=not config["final_norm"],
        activation=Activation.GELU if config["activation"] == "gelu" else Activation.RELU,
    )


def positions(model: ModelFile, stack: str) -> numpy.ndarray:
    """Sine on even, cosine on odd columns, or what was trained. [MOST_POSITIONS or fewer, D]"""
    if model.config["positions"] == "learned":
        return model.tensor(f"{stack}_positions.weight")
    width = model.config["d_model"]
    column = numpy.arange(width)
    angle = numpy.arange(MOST_POSITIONS)[:, None] / 10000.0 ** (column // 2 * 2 / width)
    return numpy.where(column % 2 == 0, numpy.sin(angle), numpy.cos(angle)).astype(numpy.float32)


def put_layer(layer, model: ModelFile, path: str, has_memory: bool) -> None:
    put_attention(layer.self_attention, model, f"{path}.self_attn", [["query", "key", "value"], ["output"]])
    if has_memory:
        put_attention(layer.attention, model, f"{path}.cross_attn", [["query"], ["key", "value"], ["output"]])
    put_linear(layer.ffn.linear_0, model, [f"{path}.feed_forward.inner"])
    put_linear(layer.ffn.linear_1, model, [f"{path}.feed_forward.outer"])
    put_norm(layer.ffn.layer_norm, model, f"{path}.feed_forward_residual.norm")


def put_attention(attention, model: ModelFile, path: str, parts: list[list[str]]) -> None:
    for linear, names in zip(attention.linear, parts):
        put_linear(linear, model, [f"{path}.{name}" for name in names])
    put_norm(attention.layer_norm, model, f"{path}_residual.norm")


def put_linear(linear, model: ModelFile, paths: list[str]) -> None:
    """One matrix of several, stacked, as CTranslate2 multiplies them at once."""
    linear.weight = numpy.concatenate([model.tensor(f"{path}.weight") for path in paths])
    if f"{paths[0]}.bias" in model.tensors:
        linear.bias = numpy.concatenate([model.tensor(f"{path}.bias") for path in paths])


def put_norm(norm, model: ModelFile, path: str) -> None:
    norm.gamma = model.tensor(f"{path}.weight")
    norm.beta = model.tensor(f"{path}.bias")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    convert(ModelFile(sys.argv[1]), sys.argv[2])
