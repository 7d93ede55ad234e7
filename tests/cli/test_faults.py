"""Agents that crash, hang and lie, many at once: each case gets one row with the right verdict.

`python -m benchmarks.faults` does the same with 5,000 cases, and watches memory.
"""

import uuid
from collections import Counter
from pathlib import Path

from agentv.errors import ExitCode
from agentv.testing import Project
from processes import alive
from story import PYTHON, by_id, case, command, contains, suite, targets

AGENT = Path(__file__).parents[2] / "benchmarks" / "faulty_agent.py"
VERDICTS = {"good": "pass", "crash": "error", "hang": "error", "liar": "fail"}


def kind_of(number: int) -> str:
    """Of twenty cases two crash, one hangs and one lies."""
    return {3: "crash", 13: "crash", 7: "hang", 17: "liar"}.get(number % 20, "good")


def test_every_case_gets_one_row_with_the_right_verdict(project: Project) -> None:
    """Scenarios: Error isolation in parallel mode, Maximum retries exceeded."""
    mark = f"agentv-test-{uuid.uuid4().hex}"
    ids = [f"{kind_of(number)}-{number}" for number in range(60)]
    project.write(
        {
            "a.eval.yaml": suite(*(case(id_, contains("The right answer")) for id_ in ids)),
            "targets.yaml": targets(command(f"{PYTHON} {AGENT} {{EVAL_ID}} traces {mark}")),
            "traces/.keep": "",
        }
    )
    options = ("--workers", "8", "--agent-timeout", "3", "--max-retries", "0", "--json")
    outcome = project.run("eval", "a.eval.yaml", *options)
    rows = by_id(project.rows())

    assert outcome.code == ExitCode.GATE_FAILED
    assert set(rows) == set(ids)
    wrong = {id_: row for id_, row in rows.items() if row["verdict"] != VERDICTS[kind(id_)]}
    assert wrong == {}
    assert outcome.json["error_kinds"] == {"exit": 6, "timeout": 3}
    assert Counter(row["verdict"] for row in rows.values()) == {"pass": 48, "error": 9, "fail": 3}
    assert len(list((project.folder / "traces").glob("hang-*"))) == 3
    assert alive(mark) == []


def kind(id_: str) -> str:
    return id_.partition("-")[0]
