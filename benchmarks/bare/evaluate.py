"""The bare half of `agentv eval`: read a suite, check canned answers, write rows, count them.

Nothing is validated, retried, limited, redacted or run at once: what is left is the work itself.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ANSWER = "Thank you for asking. The answer is 42, as always."


def main() -> None:
    gc.disable()
    suite = yaml.load(Path(sys.argv[1]).read_bytes(), yaml.CSafeLoader)
    [check] = suite["execution"]["evaluators"]
    folder = Path("results", str(time.time_ns()))
    folder.mkdir(parents=True)
    with (folder / "results.jsonl").open("xb", buffering=0) as journal:
        for case in cases_of(suite):
            journal.write(json.dumps(row_of(case, check["value"])).encode() + b"\n")
        os.fsync(journal)
    with (folder / "results.jsonl").open("rb") as rows:
        passed = sum(json.loads(row)["score"] == 1 for row in rows)
    print(f"{passed} passed")


def cases_of(suite: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(suite["evalcases"], list):
        yield from suite["evalcases"]
    else:
        with Path(suite["evalcases"]).open("rb") as lines:
            yield from map(json.loads, lines)


def row_of(case: dict[str, Any], value: str) -> dict[str, Any]:
    began = time.perf_counter()
    question = "\n\n".join(message["content"] for message in case["input_messages"])
    found = value in ANSWER
    return {
        "eval_id": case["id"],
        "verdict": "pass" if found else "fail",
        "score": float(found),
        "hits": [f"contains {value}"] if found else [],
        "candidate_answer": ANSWER,
        "question": question,
        "timestamp": time.time(),
        "duration_ms": (time.perf_counter() - began) * 1000,
    }


if __name__ == "__main__":
    main()
