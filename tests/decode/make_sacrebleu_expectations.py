#!/usr/bin/env python3
"""Writes sacrebleu_expectations.json: corpora, and what sacreBLEU prints for them, for sacrebleu_test.cc.

Usage: make_sacrebleu_expectations.py TATOEBA_TEST_TSV_GZ OUTPUT_JSON. Needs sacrebleu 2.6.0; the same arguments give
the same file with the same Python. Characters are those that its tables know (3.11: Unicode 14), so that newer tables
elsewhere do not matter.
"""
import gzip
import json
import random
import sys
import unicodedata

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

TOKENIZERS = ["13a", "zh", "char", "intl", "none"]
SMOOTHINGS = [("exp", None)] * 4 + [("none", None), ("floor", None), ("floor", 0.013), ("add-k", None), ("add-k", 0.5)]

ASCII_MARKS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
SPACES = [" "] * 12 + ["  ", "\t", "\u00a0", "\u3000", "\u2009", "\u2028", "\x1c", "\x85", "\u202f"]
INVISIBLE = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u0301", "\u0308", "\u20dd", "\ufe0f", "\U000e0100"]
NUMBERS = ["1,000", "3.14", "1.000.000,50", "2020-03-04", "12:30", ".5", "5.", "1-", "-1", "50%", "$9.99", "1/2", "½",
           "Ⅷ", "²", "٣٫١٤", "१,०००", "五", "３．１４", "1、2", "①", "10,", ",10"]
ENTITIES = ["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;", "&apos;", "&", "&quot", "<skipped>",
            "<skip<skipped>ped>"]
CHINESE = list("汤姆醉了我在窗户上看见的映像肯定你会成功。，、？！「」《》…—　㐀䶵龥龻豈﨎𠀀𪛖丽ㄅㆠ㇀⺀⼀⿰︐︰☀✂㈠㌀") + ["\u2001", "⁉", "⩭", "⩮", "ｱ", "￠"]
WORDS = ["the", "cat", "The", "CAT", "it's", "don't", "U.S.", "e.g.", "well-known", "naïve", "straße", "STRASSE",
         "İstanbul", "ΟΔΟΣ", "Σ", "ΑΣ.", "ΑΣ'Α", "ΑΣ:", "ªΣ", "ⅠΣ", "Ⓐ", "Привет", "ЁЖ", "ﬁn", "Ǆ", "ẞ", "日本語",
         "カタカナ", "한국어", "שלום", "مرحبا", "नमस्ते", "ไทย", "(hi)", "\"quoted\"", "--", "...", "'", "«ça»", "“x”",
         "’tis", "¿qué?", "x²+y²", "a_b", "#tag", "@you", "https://a.b/c?d=e&f=g", "👍", "👩‍👩‍👧", "🇨🇳", "☃", "€5",
         "5€", "→", "±1", "°C", "©", "^", "`", "~"]
RARE = [chr(c) for c in range(0x20, 0x110000)
        if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) not in ("Cn", "Co", "Cc")
        and unicodedata.name(chr(c), "") and c < 0x30000]
CASED = [c for c in RARE if c.lower() != c]
POOLS = [WORDS] * 4 + [ASCII_MARKS, NUMBERS, ENTITIES, CHINESE, CHINESE, INVISIBLE, RARE]


def random_line(rng, length):
    line = ""
    for _ in range(length):
        line += rng.choice(rng.choice(POOLS))
        if rng.random() < 0.6:
            line += rng.choice(SPACES)
    return line


def noisy(rng, line, rate):
    """The line with words and characters dropped, doubled, moved, replaced."""
    units = line.split(" ") if " " in line.strip() else list(line)
    out = []
    for unit in units:
        if rng.random() >= rate:
            out.append(unit)
            continue
        change = rng.randrange(6)
        if change == 1:
            out += [unit, unit]
        elif change == 2:
            out.insert(rng.randrange(len(out) + 1), unit)
        elif change == 3:
            out.append(rng.choice(rng.choice(POOLS)))
        elif change == 4:
            out.append(unit.swapcase())
        elif change == 5:
            out.append(unit + rng.choice(ASCII_MARKS + INVISIBLE))
    return (" " if " " in line.strip() else "").join(out)


def tatoeba(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.split("\t")[:2] for line in lines]


def corpora(rng, pairs):
    """(name, hypotheses, references) with references[r][line]."""
    for name, hypotheses, references in hand_made():
        yield name, hypotheses, references
    for i in range(130):
        lines = 1 if i % 4 == 0 else rng.randint(2, 4)
        first = [random_line(rng, rng.choice([0, 1, 2, 3, 5, 8, 12])) for _ in range(lines)]
        references = [first] + [[noisy(rng, x, 0.3) for x in first] for _ in range(rng.choice([0, 0, 1, 2]))]
        yield "random", [noisy(rng, x, rng.choice([0, 0.1, 0.3, 0.8])) for x in first], references
    for i in range(160):
        side = i % 2
        lines = 1 if i % 5 == 0 else rng.randint(2, 5)
        first = [rng.choice(pairs)[side] for _ in range(lines)]
        references = [first] + [[noisy(rng, x, 0.2) for x in first] for _ in range(rng.choice([0, 0, 0, 1]))]
        yield "tatoeba", [noisy(rng, x, rng.choice([0.05, 0.2, 0.5])) for x in first], references
    for i in range(16):  # every letter with a case, and runs of them around the sigma that may end a word
        letters = CASED[i::16]
        upper = [" ".join(letters[:60]), "".join(rng.choice(RARE) + "Σ" + rng.choice(RARE) for _ in range(20))]
        yield "case", upper, [[x.lower() for x in upper]]
    for i in range(24):  # marks of all kinds between letters and digits
        line = "".join(rng.choice("a1 ") + rng.choice(RARE) for _ in range(40))
        yield "marks", [noisy(rng, line, 0.1)], [[line]]


def hand_made():
    yield "empty hypothesis", [""], [["the cat sat on the mat"]]
    yield "empty reference", ["the cat sat on the mat"], [[""]]
    yield "both empty", ["", ""], [["", ""]]
    yield "one line empty", ["", "a b c d e"], [["x y z", "a b c d e"]]
    yield "only spaces", [" \t\u3000", "a"], [["a", "\u00a0"]]
    yield "identical", ["The quick fox jumps.", "Over 1,000 dogs!"], [["The quick fox jumps.", "Over 1,000 dogs!"]]
    yield "disjoint", ["a b c d e f"], [["u v w x y z"]]
    yield "short", ["a"], [["a"]]
    yield "three tokens", ["a b c"], [["a b c"]]
    yield "too long", ["a b c d e f g h i j k l"], [["a b c d"]]
    yield "too short", ["a b c d"], [["a b c d e f g h i j k l"]]
    yield "clipped", ["the the the the the the the"], [["the cat is on the mat"], ["there is a cat on the mat"]]
    yield "two as close", ["a b c d"], [["a b c d e f"], ["a b"]]
    yield "no bigram matches", ["a c b d"], [["a b c d"]]
    yield "entities", ["&quot;a&quot; &amp;lt; b &lt;c&gt;"], [["\"a\" &lt; b <c>"]]


def bleu_settings(rng, single):
    for tokenizer in rng.sample(TOKENIZERS, 2):
        method, value = rng.choice(SMOOTHINGS)
        yield {"tokenize": tokenizer, "lowercase": rng.random() < 0.3, "smooth_method": method, "smooth_value": value,
               "effective_order": single and rng.random() < 0.7}


def chrf_settings(rng):
    for word_order in (0, 2):
        yield {"char_order": rng.choice([6, 6, 6, 4]), "word_order": word_order, "beta": rng.choice([2, 2, 2, 1, 3]),
               "lowercase": rng.random() < 0.3, "whitespace": rng.random() < 0.2, "eps_smoothing": rng.random() < 0.2}


def without_defaults(settings, defaults):
    return {name: value for name, value in settings.items() if value != defaults[name]}


BLEU_DEFAULTS = {"tokenize": "13a", "lowercase": False, "smooth_method": "exp", "smooth_value": None,
                 "effective_order": False}
CHRF_DEFAULTS = {"char_order": 6, "word_order": 0, "beta": 2, "lowercase": False, "whitespace": False,
                 "eps_smoothing": False}


def result(metric, options, hypotheses, references):
    score = metric.corpus_score(hypotheses, references)
    return {"options": options, "score": round(score.score, 10), "text": score.format(),
            "signature": str(metric.get_signature())}


def bleu_result(settings, hypotheses, references):
    return result(BLEU(force=True, **settings), without_defaults(settings, BLEU_DEFAULTS), hypotheses, references)


def chrf_result(settings, hypotheses, references):
    return result(CHRF(**settings), without_defaults(settings, CHRF_DEFAULTS), hypotheses, references)


def main():
    source, output = sys.argv[1:]
    if sacrebleu.__version__ != "2.6.0":
        sys.exit("needs sacrebleu 2.6.0, has " + sacrebleu.__version__)
    rng = random.Random(20)
    rows = []
    for name, hypotheses, references in corpora(rng, tatoeba(source)):
        bleu_scores = [bleu_result(s, hypotheses, references) for s in bleu_settings(rng, len(hypotheses) == 1)]
        chrf_scores = [chrf_result(s, hypotheses, references) for s in chrf_settings(rng)]
        rows.append(json.dumps({"name": name, "hypotheses": hypotheses, "references": references, "bleu": bleu_scores,
                                "chrf": chrf_scores}, ensure_ascii=False, separators=(",", ":")))
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        file.write("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
