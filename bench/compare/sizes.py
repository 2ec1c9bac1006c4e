"""The sizes of the cases, as apps/bench_training.cc has them."""

from __future__ import annotations

import re
from pathlib import Path

VOCABULARY = 8000
SIZES = {"tiny": (128, 4, 256, 4), "small": (256, 8, 1024, 3), "base": (512, 8, 2048, 6)}  # D, H, F, L
FULL = {"tiny-full": (64, 20), "small-full": (64, 25), "base": (32, 50)}  # sentences, tokens a side


def sentence_lengths(name: str) -> list[tuple[int, int]]:
    """Source and target of each sentence, with EOS."""
    if name in FULL:
        sentences, length = FULL[name]
        return [(length, length)] * sentences
    text = (Path(__file__).parent.parent / "lengths.txt").read_text()
    pairs = re.findall(r"^(\d+), (\d+),$", text, re.MULTILINE)
    return [(int(source) + 1, int(target) + 1) for source, target in pairs]
