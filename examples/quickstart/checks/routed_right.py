"""A code evaluator: is the ticket where the reference answer wants it?

Reads the case as JSON on standard input and prints a score as JSON.
"""

import json
import sys

WEIGHTS = {"queue": 0.6, "priority": 0.3, "order": 0.1}


def main() -> None:
    case = json.load(sys.stdin)
    answer = json.loads(case["candidate_answer"])
    wanted = json.loads(case["reference_answer"])
    hits, misses, score = [], [], 0.0
    for key, weight in WEIGHTS.items():
        if answer.get(key) == wanted.get(key):
            score += weight
            hits.append(f"{key} is {wanted.get(key)}")
        else:
            misses.append(f"{key} is {answer.get(key)}, should be {wanted.get(key)}")
    print(json.dumps({"score": round(score, 3), "hits": hits, "misses": misses}))


if __name__ == "__main__":
    main()
