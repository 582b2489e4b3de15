"""json_repair on one document: writes what it makes of it, and prints the seconds of the best run."""

import sys
import time

from json_repair import repair_json

text = open(sys.argv[1], encoding="utf-8").read()
best, begun = None, time.perf_counter()
while best is None or (time.perf_counter() - begun < 5 and best < 2):
    start = time.perf_counter()
    repaired = repair_json(text, ensure_ascii=False)
    took = time.perf_counter() - start
    best = took if best is None else min(best, took)
open(sys.argv[2], "w", encoding="utf-8").write(repaired)
print(best)
