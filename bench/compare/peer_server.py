"""What the peers' scripts share: a process that prepares something once and then measures it whenever asked.

It prints one JSON line when it is ready, and one for each line that it reads. compare.py is at the other end.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable


def serve(run: Callable[[], object], versions: dict[str, str], tokens: int, repeat: int, warm_up: int) -> None:
    """`run` does once what one run of our case does; `tokens` are the real ones in it."""
    for _ in range(warm_up):
        run()
    say({"versions": versions})
    for _ in sys.stdin:
        seconds = [timed(run) for _ in range(repeat)]
        say(
            {
                "median_seconds": statistics.median(seconds),
                "seconds": seconds,
                "tokens": tokens,
                "most_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def say(answer: dict) -> None:
    print(json.dumps(answer), flush=True)
