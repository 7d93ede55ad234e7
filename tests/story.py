"""Eval and targets files for stories, written as data: a line a key, its value as JSON."""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

PYTHON = f"{shlex.quote(sys.executable)} -S -E"
"""A Python that starts quickly."""


def contains(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "contains", "value": value, **more}


def case(id_: str, *evaluators: Mapping[str, Any], question: str = "?", **more: Any) -> Any:
    """A case with one user message; the suite's evaluators score it unless it has its own."""
    messages = [{"role": "user", "content": question}]
    own = {"evaluators": list(evaluators)} if evaluators else {}
    return {"id": id_, "outcome": "Is right.", "input_messages": messages, **own, **more}


def suite(*cases: Any, **top: Any) -> str:
    return _yaml({**top, "evalcases": list(cases)})


def targets(*defined: Mapping[str, Any]) -> str:
    return _yaml({"targets": list(defined)})


def mock(response: str | None = None, *, name: str = "default", **more: Any) -> dict[str, Any]:
    answer = {} if response is None else {"response": response}
    return {"name": name, "provider": "mock", **answer, **more}


def command(template: str, *, name: str = "default", **more: Any) -> dict[str, Any]:
    return {"name": name, "provider": "cli", "command_template": template, **more}


def _yaml(tree: Mapping[str, Any]) -> str:
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in tree.items())
    text = "".join(lines)
    # What YAML wants to see escaped, and JSON does not.
    return re.sub(r"[\x7f-\x9f]", lambda sign: f"\\u{ord(sign[0]):04x}", text)


def by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rows by case; no case may have two."""
    found = {row["eval_id"]: row for row in rows}
    assert len(found) == len(rows)
    return found
