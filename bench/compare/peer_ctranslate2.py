"""CTranslate2's side: translation with the weights of one of our models, and its start.

    peer_ctranslate2.py CASE VARIANT --model DIRECTORY --threads N --repeat N [--text FILE --source-model FILE]

CASE is a case of `glassformer bench`, or translate/greedy and translate/beam4 of the lines of a file. VARIANT is the
compute type, `one` for a single thread, and `active` where threads are to wait awake, which is said by the environment:
"int8", "float32-one", "int8-active". DIRECTORY is what convert_to_ctranslate2.py writes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ctranslate2

from peer_server import serve

TOKENS_IN, TOKENS_OUT = 25, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("variant")
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--text", type=Path, help="lines to translate")
    parser.add_argument("--source-model", type=Path, help="our model file, for its tokenizers")
    parser.add_argument("--output", type=Path, help="where the translations go, once")
    options = parser.parse_args()
    run, tokens = make_case(options)
    serve(run, {"CTranslate2": ctranslate2.__version__}, tokens, options.repeat, warm_up=2)


def load(options: argparse.Namespace) -> ctranslate2.Translator:
    compute_type, *how = options.variant.split("-")
    return ctranslate2.Translator(
        options.model,
        device="cpu",
        compute_type=compute_type,
        inter_threads=1,
        intra_threads=1 if "one" in how else options.threads,
    )


def make_case(options: argparse.Namespace) -> tuple[Callable[[], object], int]:
    kind, _, rest = options.case.partition("/")
    if kind == "decode":
        return fixed_length(load(options), *rest.split("/"))
    if kind == "translate":
        return lines_of_text(load(options), rest, options)
    if kind == "start":
        return start(options), 0
    raise SystemExit(f"{options.case}: not a case of CTranslate2's")


def beam_of(search: str) -> int:
    return 1 if search == "greedy" else int(search.removeprefix("beam"))


def fixed_length(translator: ctranslate2.Translator, search: str, sentences: str) -> tuple[Callable[[], object], int]:
    count = int(sentences)
    source = [[f"w{(row * 37 + i * 101) % 7000:04}" for i in range(TOKENS_IN - 1)] for row in range(count)]  # and EOS

    def run() -> None:
        results = translator.translate_batch(
            source,
            beam_size=beam_of(search),
            max_batch_size=count,
            min_decoding_length=TOKENS_OUT,
            max_decoding_length=TOKENS_OUT,
        )
        assert all(len(result.hypotheses[0]) == TOKENS_OUT for result in results)

    return run, count * TOKENS_OUT


def lines_of_text(
    translator: ctranslate2.Translator, search: str, options: argparse.Namespace
) -> tuple[Callable[[], object], int]:
    from model_file import ModelFile, Tokenizer

    tokenizers = ModelFile(options.source_model).tokenizers
    source, target = Tokenizer(tokenizers["source"]), Tokenizer(tokenizers["target"])
    lines = options.text.read_text(encoding="utf-8").splitlines()

    def run() -> list[str]:
        pieces = [source.encode(line) for line in lines]
        longest = max(len(piece) for piece in pieces)
        results = translator.translate_batch(
            pieces,
            beam_size=beam_of(search),
            max_batch_size=4096,
            batch_type="tokens",
            max_decoding_length=2 * longest + 10,
        )
        return [target.decode(result.hypotheses[0]) for result in results]

    if options.output:
        options.output.write_text("\n".join(run()) + "\n", encoding="utf-8")
    return run, 0


def start(options: argparse.Namespace) -> Callable[[], object]:
    """A process of its own, as our case is: import, load, the first token."""
    words = [f"w{i:04}" for i in range(TOKENS_IN - 1)]
    program = (
        "import ctranslate2; "
        f"t = ctranslate2.Translator({options.model!r}, device='cpu', "
        f"compute_type={options.variant.split('-')[0]!r}, intra_threads={options.threads}); "
        f"t.translate_batch([{words!r}], beam_size=1, max_decoding_length=1)"
    )
    return lambda: subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    main()
