#!/usr/bin/env python3
"""What the cases of `glassformer bench` cost at the least: operations of matrix products, bytes to and from memory.

    floors.py [--gflops RATE] [--gigabytes RATE]

With the rates of a machine (oneDNN's products: bench/onednn_bench.cc; memory: bench/adamw_bench.cc) also the time below
which no case can come. docs/performance.md says what is counted.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from sizes import SIZES, VOCABULARY, sentence_lengths

TRAINING = 3  # a product forward and its two derivatives
# Read in bf16 forward and backward, 2 + 2; gradient written and read for the norm, 4 + 4; AdamW reads four and writes
# three numbers, 28.
BYTES_PER_WEIGHT = 40
PASSES_OVER_LOGITS = 5  # written, read; their gradient written, and read by both of its products


@dataclass
class Floor:
    case: str
    operations: float
    bytes: float
    tokens: int


def translation_weights(d: int, f: int, layers: int, vocabulary: int = VOCABULARY) -> int:
    """Norms and biases left out: they are less than a hundredth."""
    return layers * ((4 * d * d + 2 * d * f) + (8 * d * d + 2 * d * f)) + 2 * vocabulary * d


def encode_operations(d: int, f: int, layers: int, source: int) -> float:
    weights = 4 * d * d + 2 * d * f + 2 * d * d  # with the decoder's key and value of the memory
    return layers * (2 * source * weights + 4 * d * source * source)


def decode_operations(d: int, f: int, layers: int, source: int, target: int) -> float:
    weights = 6 * d * d + 2 * d * f
    pairs = target * (target + 1) / 2 + target * source
    return layers * (2 * target * weights + 4 * d * pairs) + 2 * target * d * VOCABULARY


def training(name: str) -> Floor:
    d, _, f, layers = SIZES[name.removesuffix("-full")]
    lengths = sentence_lengths(name)
    once = sum(encode_operations(d, f, layers, s) + decode_operations(d, f, layers, s, t) for s, t in lengths)
    logits = 4 * VOCABULARY * sum(target for _, target in lengths)
    moved = BYTES_PER_WEIGHT * translation_weights(d, f, layers) + PASSES_OVER_LOGITS * logits
    return Floor(f"train/{name}", TRAINING * once, moved, sum(s + t for s, t in lengths))


def character_training() -> Floor:
    d, f, layers, rows, length, vocabulary = 128, 512, 4, 12, 64, 65
    weights = layers * (4 * d * d + 2 * d * f)
    pairs = length * (length + 1) / 2
    row = 2 * length * (weights + d * vocabulary) + layers * 4 * d * pairs
    moved = BYTES_PER_WEIGHT * (weights + (vocabulary + length) * d)
    return Floor("nanogpt", TRAINING * rows * row, moved, rows * length)


def attention(mask: str, length: int) -> Floor:
    batch, width = max(1, 4096 // length), 8 * 64
    pairs = batch * (length * (length + 1) / 2 if mask == "causal" else length * length)
    # Forward three in and one out; backward query, key, value, output and its gradient in and three gradients out.
    moved = 12 * 4 * batch * length * width
    return Floor(f"attention/{mask}/{length}", TRAINING * 4 * width * pairs, moved, batch * length)


def decoding(search: str, sentences: int) -> Floor:
    """Every step reads the decoder's weights once for the whole batch."""
    d, _, f, layers = SIZES["base"]
    beam, source, target = (1 if search == "greedy" else 4), 25, 30
    each = encode_operations(d, f, layers, source) + beam * decode_operations(d, f, layers, source, target)
    step = layers * (6 * d * d + 2 * d * f) + d * VOCABULARY
    read = layers * (6 * d * d + 2 * d * f) + target * step
    return Floor(f"decode/{search}/{sentences}", sentences * each, 4 * read, sentences * target)


def floors() -> list[Floor]:
    cases = [training(name) for name in ("tiny", "tiny-full", "small", "small-full", "base")] + [character_training()]
    cases += [attention(mask, length) for length in (128, 512, 2048, 4096, 16384) for mask in ("full", "causal")]
    return cases + [decoding(search, sentences) for search in ("greedy", "beam4") for sentences in (1, 32)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gflops", type=float, help="1e9 operations a second that the machine multiplies with")
    parser.add_argument("--gigabytes", type=float, help="1e9 bytes a second that it moves")
    options = parser.parse_args()
    with_times = options.gflops and options.gigabytes
    print("| case | real tokens | GFLOP | MB |" + (" floor, ms |" if with_times else ""))
    print("| --- | --- | --- | --- |" + (" --- |" if with_times else ""))
    for floor in floors():
        row = f"| {floor.case} | {floor.tokens:,} | {floor.operations / 1e9:.2f} | {floor.bytes / 1e6:.0f} |"
        if with_times:
            seconds = max(floor.operations / options.gflops, floor.bytes / options.gigabytes) / 1e9
            row += f" {seconds * 1e3:.1f} |"
        print(row)


if __name__ == "__main__":
    main()
