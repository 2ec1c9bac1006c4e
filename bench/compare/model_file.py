"""Reads this project's model files (docs/file-format.md) and their tokenizers."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy

SPECIAL_TOKENS = ["<pad>", "<unk>", "<s>", "</s>"]


class ModelFile:
    """Weights by path (float32), serialized tokenizers by side, and the configuration."""

    def __init__(self, path: str | Path):
        data = memoryview(Path(path).read_bytes())
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(bytes(data[8 : 8 + length]))
        metadata = header.pop("__metadata__")
        body = data[8 + length :]
        self.config = json.loads(metadata["config"])
        self._aliases = json.loads(metadata.get("aliases", "{}"))
        self.tensors: dict[str, numpy.ndarray] = {}
        self.tokenizers: dict[str, bytes] = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            if entry["dtype"] == "U8":
                self.tokenizers[name.removeprefix("tokenizer.")] = bytes(body[begin:end])
            else:
                self.tensors[name] = numpy.frombuffer(body[begin:end], numpy.float32).reshape(entry["shape"])

    def tensor(self, name: str) -> numpy.ndarray:
        """A weight by any of its names."""
        return self.tensors[self._aliases.get(name, name)]


class Tokenizer:
    """Text to the pieces that a vocabulary is made of, and back."""

    def __init__(self, serialized: bytes):
        kind, payload = serialized[:1], serialized[1:]
        self.lowercase = kind == b"L"
        if self.lowercase:
            kind, payload = payload[:1], payload[1:]
        self.model = None
        if kind == b"S":
            import sentencepiece

            self.model = sentencepiece.SentencePieceProcessor(model_proto=payload)
            self.pieces = [self.model.id_to_piece(i) for i in range(self.model.get_piece_size())]
        elif kind == b"W":
            self.pieces = SPECIAL_TOKENS + _entries(payload)
        else:
            raise SystemExit(f"a tokenizer of kind {kind!r} is not one that can be compared; use subwords or words")

    def encode(self, line: str) -> list[str]:
        line = line.lower() if self.lowercase else line
        return self.model.encode(line, out_type=str) if self.model else line.split()

    def decode(self, pieces: list[str]) -> str:
        return self.model.decode(pieces) if self.model else " ".join(pieces)


def _entries(payload: bytes) -> list[str]:
    """A list in which each entry's length stands before it: 3:dog4:cats"""
    entries, place = [], 0
    while place < len(payload):
        colon = payload.index(b":", place)
        end = colon + 1 + int(payload[place:colon])
        entries.append(payload[colon + 1 : end].decode())
        place = end
    return entries
