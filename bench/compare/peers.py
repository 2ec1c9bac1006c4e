"""The peers' processes: in which forms each is tried, in what environment, and how it is asked."""

from __future__ import annotations

import ctypes.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

# What each library calls an instruction set of ours. Our avx512 includes products of bf16 where the machine has them.
ISA_ENVIRONMENT = {
    "avx2": {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "CT2_FORCE_CPU_ISA": "AVX2",
    },
    "avx512": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
        "ATEN_CPU_CAPABILITY": "avx512",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "CT2_FORCE_CPU_ISA": "AVX512",
    },
    "amx": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_AMX"},
}


class PeerError(Exception):
    """A form of a peer that does not run here."""


def script_of(case: str) -> str:
    kind = case.split("/")[0]
    return "peer_torch.py" if kind in ("train", "attention", "nanogpt") else "peer_ctranslate2.py"


def variants_of(case: str, threads: int) -> list[str]:
    """The forms of which the fastest is compared with."""
    kind = case.split("/")[0]
    if case.startswith("attention/function/"):
        return []  # a mask that PyTorch would have to be given as a tensor
    if kind == "attention":
        return ["f32", "bf16"]
    if kind in ("train", "nanogpt"):
        padded = case in ("train/tiny", "train/small")
        forms = [f"{how}-{numbers}" for how in ("eager", "compile") for numbers in ("f32", "bf16")]
        return forms + [form + "-real" for form in forms] if padded else forms
    if kind == "start":
        return ["float32", "int8"]
    how = ["", "-active", "-one"] if threads > 1 else [""]
    return [numbers + suffix for numbers in ("float32", "int8") for suffix in how]


def environment_of(script: str, variant: str, threads: int, isa: str | None) -> dict[str, str]:
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    environment.pop("GLASSFORMER_ISA", None)
    if isa:
        environment.update(ISA_ENVIRONMENT[isa])
    allocator = ctypes.util.find_library("tcmalloc_minimal")
    if script == "peer_torch.py" and allocator:
        environment["LD_PRELOAD"] = allocator
    if "active" in variant.split("-"):
        environment.update(OMP_WAIT_POLICY="ACTIVE", KMP_BLOCKTIME="1000")
    return environment


class Peer:
    """A peer's process, prepared once and asked again and again. It sleeps, stopped, while it is not asked."""

    def __init__(self, case: str, variant: str, threads: int, repeat: int, isa: str | None, arguments: list[str]):
        script = script_of(case)
        self.words = tempfile.TemporaryFile("w+")  # a pipe that nobody reads would stop it
        own = arguments if script == "peer_ctranslate2.py" else []
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / script), case, variant, f"--threads={threads}", f"--repeat={repeat}", *own],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.words,
            env=environment_of(script, variant, threads, isa),
            text=True,
        )

    def __enter__(self) -> Peer:
        self.versions = self._answer()["versions"]
        self.process.send_signal(signal.SIGSTOP)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def measure(self) -> dict:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("measure\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.process.send_signal(signal.SIGSTOP)  # no thread of it waits awake while ours is measured
        return answer

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.process.kill()
        self.process.wait()
        self.words.seek(0)
        words = self.words.read().strip().splitlines()
        raise PeerError(words[-1] if words else "it ended without a word")
