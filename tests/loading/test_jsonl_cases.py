"""Cases in a JSONL file: checked in one pass, read one at a time, never once it has changed."""

import json
import os
import tracemalloc
from typing import Any

import pytest
from loaded import MOCK, context, said, suite

from agentv.errors import RunAborted
from agentv.loading.jsonl_cases import JsonlCases
from agentv.loading.suites import load_suite
from agentv.testing import Project

SUITE = "evalcases: cases.jsonl\n"


def line(id_: str = "one", **more: Any) -> str:
    """A case that is valid, and whatever else it is to have."""
    return json.dumps(
        {
            "id": id_,
            "outcome": "Polite.",
            "input_messages": [{"role": "user", "content": "Hi"}],
            **more,
        }
    )


def said_of(project: Project, content: str | bytes) -> list[str]:
    """What is wrong with a suite whose cases are in such a file."""
    return said(project.write({"a.eval.yaml": SUITE, "cases.jsonl": content}))


@pytest.mark.parametrize(
    "content",
    [
        f"{line('one')}\n{line('two')}\n",
        f"{line('one')}\n{line('two')}",
        f"{line('one')}\r\n{line('two')}\r\n",
        f"\n{line('one')}\n\n   \n{line('two')}\n\n",
        f"\ufeff{line('one')}\n{line('two')}\n",
    ],
    ids=["plain", "no final newline", "CRLF", "empty lines", "byte-order mark"],
)
def test_cases_one_a_line(project: Project, content: str) -> None:
    project.write({"a.eval.yaml": SUITE, "cases.jsonl": content})
    loaded = suite(project)
    assert [case.id for case in loaded.suite.cases] == ["one", "two"]
    assert (len(loaded.suite.cases), loaded.total_cases) == (2, 2)
    assert [case.id for case in loaded.suite.cases] == ["one", "two"], "they can be read again"


def test_lines_are_like_cases_in_the_suite(project: Project) -> None:
    """The same keys, the suite's defaults, and files found from the suite's folder."""
    case = line(
        input_messages=[{"role": "user", "content": [{"type": "file", "value": "a.md"}]}],
        execution={"target": "default"},
        note="n",
    )
    project.write(
        {
            "a.md": "A",
            "data/cases.jsonl": case,
            "a.eval.yaml": "evaluator: is_json\nevalcases: data/cases.jsonl\n",
        }
    )
    loaded = suite(project)
    (found,) = loaded.suite.cases
    assert [options.type for options in found.evaluators] == ["is_json"]
    assert (found.target, dict(loaded.case_targets)) == ("default", {"default": 1})
    assert loaded.turns.turns(found.input_messages)[0].segments[0].path == "a.md"  # type: ignore[union-attr]


def test_every_mistake_of_every_line_at_its_column(project: Project) -> None:
    project.write({"targets.yaml": MOCK})
    content = "\n".join(
        [
            line("one"),
            "",
            '{"id": "two", "outcome" "x"}',
            '{"id": "three", "id": "four"}',
            line("one"),
            line("five", nte="x"),
            '["six"]',
            '{"id": "seven", "outcme": "x", "input_messages": [{"role": "usr", "content": "q"}]}',
            line("eight", execution={"target": "defualt"}),
        ]
    )
    assert said_of(project, content) == [
        "cases.jsonl:3:25  expected ':'; write \"key\": value",
        "cases.jsonl:4:17  id  duplicate key 'id'; it is already in column 2; keep one",
        "cases.jsonl:5:8  id  the id 'one' is already taken by line 1; ids are unique",
        "cases.jsonl:6:93  nte  unknown key 'nte'; did you mean 'note'?",
        "cases.jsonl:7:1  expected a mapping, found a list",
        "cases.jsonl:8:17  outcme  unknown key 'outcme'; did you mean 'outcome'?",
        "cases.jsonl:8:60  input_messages[0].role  unknown role 'usr'; "
        "did you mean 'user'? one of system, user, assistant, tool",
        "cases.jsonl:9:118  execution.target  unknown target 'defualt'; did you mean 'default'?",
    ]


@pytest.mark.parametrize(
    ("files", "suite_text", "expected"),
    [
        (
            {},
            "evalcases: cases.jsonl\n",
            "a.eval.yaml:1:12  evalcases  no such file 'cases.jsonl'; tried /project/cases.jsonl",
        ),
        (
            {"case.jsonl": ""},
            "evalcases: cases.jsonl\n",
            "a.eval.yaml:1:12  evalcases  no such file 'cases.jsonl'; "
            "did you mean 'case.jsonl'? tried /project/cases.jsonl",
        ),
        (
            {"cases/one.jsonl": ""},
            "evalcases: cases\n",
            "a.eval.yaml:1:12  evalcases  'cases' is a folder; name a file in it",
        ),
        (
            {},
            "evalcases: ''\n",
            "a.eval.yaml:1:12  evalcases  the path is empty; write the path of a file",
        ),
        (
            {"cases.jsonl": "\n\n"},
            "evalcases: cases.jsonl\n",
            "a.eval.yaml:1:12  evalcases  there are no eval cases; "
            "a suite without cases proves nothing; add one",
        ),
        (
            {"cases.jsonl": b'{"id": "caf\xe9"}\n'},
            "evalcases: cases.jsonl\n",
            "cases.jsonl:1:12  the byte 0xE9 is not UTF-8; save the file as UTF-8",
        ),
        (
            {"cases.jsonl": line()},
            "evalcase: cases.jsonl\n",
            "a.eval.yaml:1:1  evalcase  unknown key 'evalcase'; did you mean 'evalcases'?",
        ),
    ],
    ids=["missing", "nearly there", "folder", "no path", "no cases", "not UTF-8", "misspelt"],
)
def test_files_without_cases(
    project: Project, files: dict[str, str | bytes], suite_text: str, expected: str
) -> None:
    project.write({**files, "a.eval.yaml": suite_text})
    assert said(project) == [expected]


def test_mistakes_in_the_suite_and_in_its_lines_come_together(project: Project) -> None:
    project.write({"a.eval.yaml": f"datset: x\n{SUITE}", "cases.jsonl": line(nte="x")})
    assert [line.split("  ")[:2] for line in said(project)] == [
        *(["a.eval.yaml:1:1", "datset"], ["cases.jsonl:1:92", "nte"])
    ]


def test_a_file_that_is_all_mistakes_is_given_up(project: Project) -> None:
    """Nobody reads ten thousand lines; that the rest was not checked is said."""
    problems = said_of(project, "nonsense\n" * 10_000)
    assert len(problems) == 1_001
    assert problems[-1] == (
        "cases.jsonl:1000  there are 1000 mistakes up to here; "
        "the lines that follow were not checked"
    )


def test_only_selected_lines_are_read_again(project: Project) -> None:
    content = "".join(f"{line(f'case-{number}')}\n" for number in range(10))
    project.write({"a.eval.yaml": SUITE, "cases.jsonl": content})
    loaded = suite(project, select=lambda id_: id_ in ("case-3", "case-7"))
    assert [case.id for case in loaded.suite.cases] == ["case-3", "case-7"]
    assert (len(loaded.suite.cases), loaded.total_cases) == (2, 10)


def test_the_digest_covers_the_cases(project: Project) -> None:
    project.write({"a.eval.yaml": SUITE, "cases.jsonl": line()})
    before = suite(project).suite.digest
    assert suite(project).suite.digest == before
    project.write({"cases.jsonl": line(note="changed")})
    assert suite(project).suite.digest != before


def test_a_file_changed_after_it_was_checked_aborts_the_run(project: Project) -> None:
    """Rewritten, replaced or gone, before the first case or between two."""
    path = project.folder / "cases.jsonl"
    two = f"{line('one')}\n{line('two')}\n"
    project.write({"a.eval.yaml": SUITE, "cases.jsonl": two})

    cases = suite(project).suite.cases
    path.write_text(two.replace("two", "owt"))
    os.utime(path, ns=(0, 0))
    with pytest.raises(RunAborted, match=r"^cases\.jsonl was changed after it was checked\.$"):
        next(iter(cases))

    cases = suite(project).suite.cases
    os.replace(project.write({"b": two}).folder / "b", path)
    with pytest.raises(RunAborted, match=r"^cases\.jsonl was changed after it was checked\.$"):
        next(iter(cases))

    reading = iter(suite(project).suite.cases)
    assert next(reading).id == "one"
    path.write_text(f"{line('one')}\n")
    with pytest.raises(RunAborted, match=r"^cases\.jsonl was changed after it was checked\.$"):
        next(reading)

    cases = suite(project).suite.cases
    path.unlink()
    with pytest.raises(RunAborted, match=r"^cases\.jsonl can no longer be read: No such file"):
        next(iter(cases))


def test_memory_does_not_hold_the_cases(project: Project) -> None:
    """Ten thousand cases of a kilobyte each cost a fraction of the file's size."""
    long = "x" * 1_000
    content = "".join(f"{line(f'case-{n}', note=long)}\n" for n in range(10_000))
    project.write({"targets.yaml": MOCK, "a.eval.yaml": SUITE, "cases.jsonl": content})
    settings = context(project)
    tracemalloc.start()
    loaded = load_suite(project.folder / "a.eval.yaml", settings)
    held, peak = tracemalloc.get_traced_memory()
    for _ in loaded.suite.cases:
        pass
    _, later = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(loaded.suite.cases, JsonlCases)
    assert loaded.total_cases == 10_000
    assert held < 1_000_000
    assert max(peak, later) < len(content) / 2
