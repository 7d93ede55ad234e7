"""Suites of any size, written a case at a time so that this process stays small."""

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Literal

import yaml

Form = Literal["yaml", "jsonl"]

_TARGETS = """\
$schema: agentv-targets-v2.2
targets:
  - name: canned
    provider: mock
    response: Thank you for asking. The answer is 42, as always.
    workers: 8
  - name: echo
    provider: cli
    command_template: echo {PROMPT}, which is 42
    workers: 8
"""

_LLM = """\
  - name: llm
    provider: openai
    model: stick
    base_url: ${{ STICK_URL }}
    api_key: an-api-key-of-nobody
    timeout_seconds: 5
"""

_HEAD = """\
$schema: agentv-eval-v2
dataset: benchmark
target: %(target)s
execution:
  evaluators:
    - type: contains
      value: "42"
%(judge)sevalcases: %(cases)s
"""

SHORT = """\
  - id: case-%(n)05d
    outcome: Says what the sum is, and nothing that was not asked.
    input_messages:
      - role: user
        content: What is %(n)d plus 42, and what is left when %(n)d is taken away?
    note: Number %(n)d.

"""
"""Seven lines; the suite's one check applies."""

LONG = """\
  - id: case-%(n)05d
    conversation_id: thread-%(n)05d
    outcome: Names the right team, keeps the tone of the house, and promises no date at all.
    input_messages:
      - role: system
        content: You answer the customers of a shop that rents desks. Be short and be kind.
      - role: user
        content:
          - type: text
            value: My order ORD-%(n)05d has not arrived. What shall I do about it now?
    expected_messages:
      - role: assistant
        content: Our shipping team looks into order ORD-%(n)05d today.
    evaluators:
      - name: names the order
        type: contains
        value: ORD-%(n)05d
        weight: 2
"""
"""Eighteen lines, with a check of its own."""


def write_suite(
    folder: Path,
    case: str,
    cases: int,
    form: Form = "yaml",
    target: str = "canned",
    *,
    judged: bool = False,
) -> None:
    """`suite.yaml` and its `targets.yaml`; as JSONL the cases are in `cases.jsonl`, one a line."""
    _write(folder / "targets.yaml", [_TARGETS, _LLM if target == "llm" else ""])
    head = {"target": target, "judge": "    - type: llm_judge\n" if judged else ""}
    if form == "jsonl":
        _write(folder / "suite.yaml", [_HEAD % {**head, "cases": "cases.jsonl"}])
        _write(folder / "cases.jsonl", _numbered(_as_line(case), cases))
    else:
        _write(
            folder / "suite.yaml", chain([_HEAD % {**head, "cases": ""}], _numbered(case, cases))
        )


def _numbered(case: str, cases: int) -> Iterable[str]:
    return (case % {"n": number} for number in range(cases))


def _as_line(case: str) -> str:
    [record] = yaml.safe_load(case)
    return f"{json.dumps(record)}\n"


def _write(path: Path, pieces: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces)
