#!/usr/bin/env python3
"""Measures `glassformer` and its peers in turn, on the same work, and prints how they compare (README.md)."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from peers import ISA_ENVIRONMENT, Peer, PeerError, script_of, variants_of

# How many runs one measurement is the median of: some seconds of work, the same on both sides.
REPEATS = {
    "train/base": 3,
    "train/*": 7,
    "nanogpt": 40,
    "attention/*/16384": 1,
    "attention/*/4096": 3,
    "attention/*": 7,
    "decode/*/32": 3,
    "decode/*": 5,
    "start": 3,
    "translate/*": 1,
}


@dataclass
class Comparison:
    case: str
    variant: str  # the peer's
    peer: str = ""  # with its version
    precision: str = ""  # ours
    tokens: int = 0
    tried: dict[str, float] = field(default_factory=dict)  # seconds by variant
    ours: list[float] = field(default_factory=list)  # seconds of one run, by pair
    theirs: list[float] = field(default_factory=list)
    our_bytes: int = 0  # the most that was resident
    their_bytes: int = 0

    @property
    def ratios(self) -> list[float]:
        """How many times as fast we are, pair by pair."""
        return [theirs / ours for ours, theirs in zip(self.ours, self.theirs)]


def main() -> None:
    options = parse_options()
    comparisons = []
    with tempfile.TemporaryDirectory() as folder:
        ours = Program(options)
        models = Models(options, Path(folder))
        for case in chosen_cases(options, ours):
            try:
                comparison = compare(case, ours, models, options)
            except (PeerError, subprocess.CalledProcessError) as error:
                say(f"{case}: left out: {error}")
                continue
            comparisons.append(comparison)
            say(row_text(comparison))
        report = ours.version()
    write_results(options, report, comparisons)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/glassformer", help="ours (default: %(default)s)")
    parser.add_argument("--case", action="append", help="only cases of this name; * and ? stand for others")
    parser.add_argument("--variant", action="append", help="only these forms of the peer: 'eager*', '*bf16*', 'int8*'")
    parser.add_argument("--precision", default="auto", choices=["auto", "f32", "bf16"], help="ours")
    parser.add_argument("--pairs", type=int, default=7, help="measurements of each side, after one that does not count")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--isa", choices=sorted(ISA_ENVIRONMENT), help="force an instruction set, on both sides")
    parser.add_argument("--longest", type=int, default=4096, help="tokens of the longest attention case, to 16384")
    parser.add_argument("--model", type=Path, help="a trained model: adds translate/greedy and translate/beam4")
    parser.add_argument("--text", type=Path, help="the lines that these translate")
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    parser.add_argument("--json", type=Path, help="write every measurement to this file")
    parser.add_argument("--list", action="store_true", help="name the cases and the peer's forms")
    options = parser.parse_args()
    if bool(options.model) != bool(options.text):
        parser.error("--model and --text come together")
    if options.pairs < 1:
        parser.error("--pairs is 1 or more")
    if not Path(options.program).is_file():
        parser.error(f"--program: there is no {options.program}; build it, or say where it is")
    return options


# --- our side


class Program:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.environment = dict(os.environ)
        if options.isa:
            self.environment["GLASSFORMER_ISA"] = options.isa

    def run(self, *arguments: str) -> str:
        command = [self.options.program, *arguments, f"--threads={self.options.threads}"]
        return subprocess.run(command, check=True, env=self.environment, stdout=subprocess.PIPE, text=True).stdout

    def cases(self) -> list[str]:
        try:
            listed = json.loads(self.run("bench", "--list", "--json", f"--longest={self.options.longest}"))
        except subprocess.CalledProcessError:
            raise SystemExit(1)  # it has said why
        return [case["name"] for case in listed]

    def version(self) -> dict:
        """Of a run that takes next to no time."""
        report = json.loads(self.run("bench", "--json", "--case=nanogpt", "--repeat=1"))
        return {key: value for key, value in report.items() if key not in ("cases", "most_resident_bytes")}

    def measure(self, case: str) -> dict:
        if case.startswith("translate/"):
            return self._translate(case)
        report = json.loads(
            self.run(
                "bench",
                "--json",
                f"--case={case}",
                f"--repeat={repeats_of(case)}",
                f"--precision={self.options.precision}",
                f"--longest={self.options.longest}",
            )
        )
        return report["cases"][0] | {"most_resident_bytes": report["most_resident_bytes"]}

    def _translate(self, case: str) -> dict:
        """The whole program, from its start to the last line; of the peer only what comes after loading counts."""
        beam = 1 if case.endswith("greedy") else int(case.rpartition("beam")[2])
        start = time.perf_counter()
        self.run("translate", str(self.options.text), f"--model={self.options.model}", f"--beam={beam}")
        return {"median_seconds": time.perf_counter() - start, "precision": "f32", "most_resident_bytes": 0}


class Models:
    """What CTranslate2 reads, converted when it is first needed."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder = options, folder

    def arguments(self, case: str, ours: Program) -> list[str]:
        if script_of(case) != "peer_ctranslate2.py":
            return []
        if case.startswith("translate/"):
            model = self._converted("given", self.options.model)
            return [f"--model={model}", f"--text={self.options.text}", f"--source-model={self.options.model}"]
        source = self.folder / "base.safetensors"
        if not source.exists():
            ours.run("bench", f"--write-model={source}")
        return [f"--model={self._converted('base', source)}"]

    def _converted(self, name: str, source: Path) -> Path:
        directory = self.folder / name
        if not directory.exists():
            script = Path(__file__).parent / "convert_to_ctranslate2.py"
            subprocess.run([sys.executable, str(script), str(source), str(directory)], check=True)
        return directory


# --- comparing


def chosen_cases(options: argparse.Namespace, ours: Program) -> list[str]:
    cases = ours.cases() + (["translate/greedy", "translate/beam4"] if options.model else [])
    patterns = options.case or ["*"]
    chosen = [case for case in cases if any(fnmatch.fnmatchcase(case, pattern) for pattern in patterns)]
    if options.list:
        for case in chosen:
            print(f"{case:24}{' '.join(chosen_variants(case, options))}")
        raise SystemExit
    return chosen


def chosen_variants(case: str, options: argparse.Namespace) -> list[str]:
    variants = variants_of(case, options.threads)
    patterns = options.variant or ["*"]
    return [variant for variant in variants if any(fnmatch.fnmatchcase(variant, pattern) for pattern in patterns)]


def repeats_of(case: str) -> int:
    return next(count for pattern, count in REPEATS.items() if fnmatch.fnmatchcase(case, pattern))


def compare(case: str, ours: Program, models: Models, options: argparse.Namespace) -> Comparison:
    arguments = models.arguments(case, ours)

    def peer(variant: str) -> Peer:
        return Peer(case, variant, options.threads, repeats_of(case), options.isa, arguments)

    tried = try_variants(case, peer, options)
    if not tried:
        raise PeerError("no form of the peer runs")
    comparison = Comparison(case, min(tried, key=tried.get), tried=tried)
    with peer(comparison.variant) as chosen:
        comparison.peer = " ".join(f"{name} {version}" for name, version in chosen.versions.items() if name != "ISA")
        for pair in range(-1, options.pairs):
            add_pair(comparison, ours.measure(case), chosen.measure(), counts=pair >= 0)
    return comparison


def try_variants(case: str, peer, options: argparse.Namespace) -> dict[str, float]:
    tried = {}
    for variant in chosen_variants(case, options):
        try:
            with peer(variant) as candidate:
                tried[variant] = candidate.measure()["median_seconds"]
            say(f"{case}: peer's {variant} {tried[variant] * 1e3:.1f} ms")
        except PeerError as error:
            say(f"{case}: peer's {variant} does not run: {error}")
    return tried


def add_pair(comparison: Comparison, ours: dict, theirs: dict, counts: bool) -> None:
    comparison.precision = ours["precision"]
    comparison.tokens = ours.get("tokens", 0)
    if theirs["tokens"] not in (0, comparison.tokens) and comparison.tokens:
        raise SystemExit(f"{comparison.case}: not the same work: {comparison.tokens} and {theirs['tokens']} tokens")
    if not counts:
        return
    comparison.ours.append(ours["median_seconds"])
    comparison.theirs.append(theirs["median_seconds"])
    comparison.our_bytes = max(comparison.our_bytes, ours["most_resident_bytes"])
    comparison.their_bytes = max(comparison.their_bytes, theirs["most_resident_bytes"])


# --- what is printed


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


HEADINGS = ["case", "ours, ms", "peer, ms", "times as fast", "quartiles", "range"]
HEADINGS += ["tokens/s, ours", "peer", "GB, ours", "peer"]


def cells(comparison: Comparison) -> list[str]:
    ours, theirs = statistics.median(comparison.ours), statistics.median(comparison.theirs)
    ratios = comparison.ratios
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    rates = [f"{comparison.tokens / seconds:,.0f}" if comparison.tokens else "" for seconds in (ours, theirs)]
    # A process that only starts another holds little itself, so its memory says nothing.
    known = [0 if comparison.case == "start" else size for size in (comparison.our_bytes, comparison.their_bytes)]
    sizes = [f"{size / 1e9:.2f}" if size else "" for size in known]
    return [
        comparison.case,
        f"{ours * 1e3:.1f} ({comparison.precision})",
        f"{theirs * 1e3:.1f} ({comparison.variant})",
        f"{statistics.median(ratios):.2f}",
        f"{low:.2f}..{high:.2f}",
        f"{min(ratios):.2f}..{max(ratios):.2f}",
        *rates,
        *sizes,
    ]


def row_text(comparison: Comparison) -> str:
    return "  ".join(f"{name} {cell}" for name, cell in zip(HEADINGS, cells(comparison)) if cell)


def table(comparisons: list[Comparison]) -> str:
    rows = [HEADINGS, ["---"] * len(HEADINGS), *map(cells, comparisons)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "an unknown processor"


def heading(report: dict, comparisons: list[Comparison], options: argparse.Namespace) -> str:
    peers = sorted({comparison.peer for comparison in comparisons})
    bf16 = " with bf16" if report["bf16_products"] else ""
    return (
        f"Glassformer {report['version']} (oneDNN {report['onednn']}) beside {', '.join(peers) or 'nobody'}; "
        f"{processor()}, ISA {report['isa']}{bf16}{' (forced)' if options.isa else ''}, {report['threads']} threads; "
        f"{options.pairs} pairs.\n"
    )


def write_results(options: argparse.Namespace, report: dict, comparisons: list[Comparison]) -> None:
    text = heading(report, comparisons, options) + "\n" + table(comparisons)
    print(text, end="")
    if options.markdown:
        options.markdown.write_text(text)
    if options.json:
        measured = {"program": report, "pairs": options.pairs, "cases": [asdict(c) for c in comparisons]}
        options.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
