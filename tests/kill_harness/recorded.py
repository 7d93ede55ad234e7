"""What a run's folder says was answered, read with no code of ours."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_WHO = {"llm_judge": "judge", "code": "code"}


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a journal, without one that was cut off."""
    if not path.exists():
        return []
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def recorded(run: Path) -> set[tuple[str, str]]:
    """Who need not be asked again, and of which case."""
    found: set[tuple[str, str]] = set()
    for line in whole_lines(run / "results.jsonl"):
        row = json.loads(line)
        found.add((row["target"], row["eval_id"]))
        found.update(_judges(row["eval_id"], row["evaluator_results"]))
    for line in whole_lines(run / "steps.jsonl"):
        step = json.loads(line)
        if step["step"] == "answered":
            found.add((step["target"], step["eval_id"]))
        elif step["step"] == "judged":
            found.update(_judges(step["eval_id"], [step["result"]]))
    return found


def _judges(case: str, results: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for result in results:
        if result["type"] in _WHO:
            yield _WHO[result["type"]], case
