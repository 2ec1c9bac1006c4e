#!/usr/bin/env python3
"""Makes the bundled split of the Tatoeba English-Chinese pairs. Run once by a maintainer; its output is committed.

Usage: make_tatoeba_split.py pairs.tsv OUTPUT_DIR

Writes {train,valid,test}.tsv.gz, each line "English TAB Chinese TAB attribution" as in the input.

The file has many paraphrases: a sentence of one side often stands beside several of the other. A random split of the
rows therefore leaks, a tenth of the English and a fifth of the Chinese test sentences being in training as well. Here
every held-out sentence, of either language, is distinct, and each row that shares a side with a held-out row is left
out of training. The input is sorted by length, so it is shuffled first.
"""

import gzip
import random
import sys

HELD_OUT = {"test": 1000, "valid": 500}
SEED = 1


def main(source, directory):
    with open(source, encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\n") for line in file]
    random.Random(SEED).shuffle(rows)

    parts = {name: [] for name in HELD_OUT}
    english_held, chinese_held = set(), set()
    rest = []
    for row in rows:
        english, chinese, _ = row.split("\t")
        if english in english_held or chinese in chinese_held:
            continue
        name = next((n for n in parts if len(parts[n]) < HELD_OUT[n]), None)
        if name is None:
            rest.append((english, chinese, row))
        else:
            parts[name].append((english, chinese, row))
            english_held.add(english)
            chinese_held.add(chinese)
    # Nothing was put into `rest` before the held-out parts were full, so the check above already covers every row of it.
    parts["train"] = rest
    for name, part in parts.items():
        # mtime 0 and no file name: the same input gives the same bytes.
        with open(f"{directory}/{name}.tsv.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
            file.write("".join(row + "\n" for _, _, row in part).encode("utf-8"))
        print(name, len(part))


if __name__ == "__main__":
    main(*sys.argv[1:])
