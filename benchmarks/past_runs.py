"""Runs of any size that lie there already, written a row at a time."""

import json
from pathlib import Path
from typing import Any

_TEXT = 'Thank you for asking.\nThe order "ORD-1" is on its way and comes on Monday. '
_USAGE = {
    "input_tokens": 412,
    "cached_tokens": None,
    "output_tokens": 96,
    "reasoning_tokens": None,
    "cost_usd": 0.0012,
}
_SCORES = (1.0, 0.95, 0.9, 0.85, 0.8)


def write_runs(root: Path, runs: int, rows: int) -> None:
    """Folders `0`, `1`, …"""
    for number in range(runs):
        write_run(root / str(number), rows)


def write_run(folder: Path, rows: int) -> None:
    """A complete run: every answer was judged, and passed."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(_manifest(folder.name, rows)))
    head, tail = json.dumps(_row()).split(json.dumps("<case>"))
    before, after = tail.split(json.dumps("<score>"))
    with (folder / "results.jsonl").open("w") as file:
        for number in range(rows):
            score = _SCORES[number % len(_SCORES)]
            file.write(f'{head}"case-{number:06d}"{before}{score}{after}\n')


def _manifest(run_id: str, rows: int) -> dict[str, Any]:
    suite = {"path": "suite.yaml", "dataset": "benchmark", "digest": "0" * 64}
    numbers = {"cases": rows, "trials": rows, "threshold": 0.8, "min_pass_rate": 1.0}
    target = {"name": "llm", "provider": "openai", "settings": {}, "digest": "0" * 32}
    return {
        "run_id": run_id,
        "started": "2026-11-21T07:08:01.000Z",
        "version": "0.1.0",
        "python": "3.11.7",
        "git_commit": None,
        "arguments": {"paths": ["suite.yaml"]},
        "dry_run": False,
        "suites": [{**suite, **numbers}],
        "targets": [target],
    }


def _row() -> dict[str, Any]:
    """About 2 kB, as a question to an LLM leaves with a judge's verdict on the answer."""
    return {
        "eval_id": "<case>",
        "dataset": "benchmark",
        "suite": "suite.yaml",
        "conversation_id": None,
        "target": "llm",
        "trial": 1,
        "attempts": 1,
        "timestamp": "2026-11-21T07:08:01.576Z",
        "duration_ms": 1234.5,
        "verdict": "pass",
        "score": "<score>",
        "hits": ["names the order"],
        "misses": [],
        "reasoning": _TEXT,
        "candidate_answer": _TEXT * 4,
        "reference_answer": _TEXT,
        "raw_request": {"question": _TEXT * 4, "guidelines": "", "guideline_paths": []},
        "evaluator_results": [_judgement()],
        "usage": _USAGE,
        "trace": None,
        "error": None,
        "digest": "0" * 32,
    }


def _judgement() -> dict[str, Any]:
    request = {"userPrompt": _TEXT * 8, "systemPrompt": _TEXT * 2, "target": "judge"}
    return {
        "name": "judge",
        "type": "llm_judge",
        "score": 0.9,
        "weight": 1.0,
        "hits": ["names the order"],
        "misses": [],
        "reasoning": _TEXT,
        "raw_score": None,
        "evaluator_provider_request": request,
        "error": None,
        "parse_error": None,
        "duration_ms": 345.6,
        "usage": _USAGE,
        "digest": "0" * 16,
    }
