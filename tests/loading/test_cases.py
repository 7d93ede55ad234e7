"""Cases of a suite: their defaults, their evaluators, the files they refer to."""

import os

import pytest
from loaded import MOCK, said, said_of, suite

from agentv.evaluators.llm_judge import LlmJudgeOptions
from agentv.model.case import EvalCase
from agentv.testing import Project


def case_text(rest: str = "", *, outcome: str = "    outcome: Polite.\n") -> str:
    """A suite of one case, `rest` being what the test is about."""
    asked = "" if "input_messages" in rest else "    input_messages: [{role: user, content: Hi}]\n"
    return f"evalcases:\n  - id: one\n{outcome}{asked}{rest}"


def only_case(project: Project, text: str) -> EvalCase:
    """The one case of a suite without mistakes."""
    (case,) = suite(project.write({"a.eval.yaml": text})).suite.cases
    return case


def test_a_case_with_everything(project: Project) -> None:
    text = """\
evalcases:
  - id: one
    expected_outcome: Polite.
    conversation_id: talk
    note: for readers
    input_messages:
      - {role: system, content: Be polite.}
      - role: user
        content: [{type: text, value: Hi}]
    expected_messages: [{role: assistant, content: Hello}]
    execution: {target: default}
    evaluator: is_json
"""
    case = only_case(project, text)
    assert (case.id, case.expected_outcome) == ("one", "Polite.")
    assert (case.conversation_id, case.note, case.target) == ("talk", "for readers", "default")
    assert [message.role for message in case.input_messages] == ["system", "user"]
    assert [message.content for message in case.expected_messages] == ["Hello"]
    assert [options.type for options in case.evaluators] == ["is_json"]


@pytest.mark.parametrize(
    "rest",
    [
        "    evaluators: [{type: contains, value: x}]\n",
        "    execution: {evaluators: [{type: contains, value: x}]}\n",
    ],
    ids=["in the case", "under execution"],
)
def test_a_case_s_own_evaluators_win(project: Project, rest: str) -> None:
    head = "execution: {evaluators: [{type: is_json}]}\n"
    (own,) = only_case(project, head + case_text(rest)).evaluators
    assert own.type == "contains"


def test_evaluators_are_told_apart_by_name(project: Project) -> None:
    """Unnamed ones are numbered, around the names that were given."""
    rest = (
        "    evaluators: [{type: is_json}, {type: is_json}, {type: is_json, name: is_json_2},"
        " {type: is_json}]\n"
    )
    case = only_case(project, case_text(rest))
    assert [options.label for options in case.evaluators] == [
        *("is_json", "is_json_3", "is_json_2", "is_json_4")
    ]


def test_equal_lists_are_one_list(project: Project) -> None:
    """What is built from evaluators can then be shared by thousands of cases."""
    rest = "    evaluators: [{type: contains, value: x}]\n"
    text = case_text(rest) + case_text(rest).replace("one", "two").removeprefix("evalcases:\n")
    first, second = suite(project.write({"a.eval.yaml": text})).suite.cases
    assert first.evaluators is second.evaluators


def test_an_older_name_of_an_evaluator(project: Project) -> None:
    rest = "    evaluators: [{type: code_judge, script: 'true'}]\n"
    (own,) = only_case(project, case_text(rest)).evaluators
    assert type(own).__name__ == "CodeOptions"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (
            "    evaluators: []\n",
            "a.eval.yaml:5:17  evalcases[0].evaluators  the list of evaluators is empty, "
            "so nothing is asserted; "
            "name at least one evaluator, or leave the key out to use the suite's",
        ),
        (
            "    execution: {evaluators: []}\n",
            "a.eval.yaml:5:29  evalcases[0].execution.evaluators  "
            "the list of evaluators is empty, so nothing is asserted; "
            "name at least one evaluator, or leave the key out to use the suite's",
        ),
        (
            "    evaluators: [{type: is_json}]\n    execution: {evaluators: [{type: is_json}]}\n",
            "a.eval.yaml:5:17  evalcases[0].evaluators  "
            "the case lists evaluators twice, here and under `execution`; keep one",
        ),
        (
            "    expected_outcome: Kind.\n",
            "a.eval.yaml:5:23  evalcases[0].expected_outcome  "
            "`outcome` and `expected_outcome` are one key; keep one",
        ),
        (
            "    evaluators: [is_json]\n",
            "a.eval.yaml:5:18  evalcases[0].evaluators[0]  expected an evaluator; "
            "write a mapping with `type:` and its settings",
        ),
        (
            "    evaluators: [{value: x}]\n",
            "a.eval.yaml:5:18  evalcases[0].evaluators[0]  the evaluator has no type; "
            "add `type: …`, one of code, code_judge, contains, ends_with, equals, icontains, "
            "is_json, llm_judge, regex, starts_with",
        ),
        (
            "    evaluators: [{type: 3}]\n",
            "a.eval.yaml:5:25  evalcases[0].evaluators[0].type  expected an evaluator's type; "
            "one of code, code_judge, contains, ends_with, equals, icontains, is_json, llm_judge, "
            "regex, starts_with",
        ),
        (
            "    evaluators: [{type: contains}]\n",
            "a.eval.yaml:5:18  evalcases[0].evaluators[0].value  the key 'value' is missing",
        ),
        (
            "    evaluators: [{type: is_json, name: a}, {type: is_json, name: a}]\n",
            "a.eval.yaml:5:66  evalcases[0].evaluators[1].name  two evaluators are called 'a'; "
            "give each its own name",
        ),
        (
            "    evaluators: [{type: is_json, weight: 0}]\n",
            "a.eval.yaml:5:42  evalcases[0].evaluators[0].weight  the number 0 is out of range; "
            "write a number greater than 0",
        ),
        (
            "    evaluators: [{type: llm_judge, target: defualt}]\n",
            "a.eval.yaml:5:44  evalcases[0].evaluators[0].target  unknown target 'defualt'; "
            "did you mean 'default'?",
        ),
        (
            "    execution: {target: defualt}\n",
            "a.eval.yaml:5:25  evalcases[0].execution.target  unknown target 'defualt'; "
            "did you mean 'default'?",
        ),
        (
            "    input_messages: [{role: user, content: ' '}]\n",
            "a.eval.yaml:4:21  evalcases[0].input_messages  "
            "the messages are blank, so nothing is asked; write the question",
        ),
        (
            "    input_messages: []\n",
            "a.eval.yaml:4:21  evalcases[0].input_messages  must not be empty",
        ),
        (
            "    input_messages: [{role: user, content: []}]\n",
            "a.eval.yaml:4:44  evalcases[0].input_messages[0].content  must not be empty",
        ),
        (
            "    note: [1]\n",
            "a.eval.yaml:5:11  evalcases[0].note  expected text, found a list",
        ),
    ],
    ids=[
        *("no evaluators", "none under execution", "listed twice", "outcome twice"),
        *("evaluator as text", "no type", "type of a wrong kind", "setting missing"),
        *("same name twice", "weightless", "unknown judge", "unknown target"),
        *("blank question", "no messages", "no parts", "wrong kind"),
    ],
)
def test_mistakes_in_a_case(project: Project, rest: str, expected: str) -> None:
    assert said_of(project, case_text(rest)) == [expected]


def test_a_judge_needs_an_outcome(project: Project) -> None:
    message = (
        "the case has no `outcome`, and its judge needs one; "
        "say in a sentence what a good answer achieves"
    )
    for outcome in ("", "    outcome: ' '\n"):
        assert said_of(project, case_text(outcome=outcome)) == [
            f"a.eval.yaml:2:5  evalcases[0]  {message}"
        ]
    plain = case_text("    evaluators: [{type: is_json}]\n", outcome="")
    assert said_of(project, plain) == []


@pytest.mark.parametrize(
    "rest",
    [
        "    outcme: Polite.\n",
        "    goal: Polite.\n",
        "    outcome: 5\n",
        "    evaluators: is_json\n",
        "    evaluaters: [{type: is_json}]\n",
        "    evaluators: [{type: is_jsn}]\n",
        "    execution: {evalutors: [{type: is_json}]}\n",
        "    execution: is_json\n",
        "    evaluator: [is_json]\n",
    ],
)
def test_a_missing_outcome_is_not_blamed_on_another_mistake(project: Project, rest: str) -> None:
    """The one mistake is named, and nothing that only follows from it."""
    assert len(said_of(project, case_text(rest, outcome=""))) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("lost.md", "no such file 'lost.md'; tried /project/evals/lost.md, /project/lost.md"),
        (
            "note.md",
            "no such file 'note.md'; did you mean 'notes.md'? "
            "tried /project/evals/note.md, /project/note.md",
        ),
        (
            "/lost.md",
            "no such file '/lost.md'; tried /lost.md, /project/evals/lost.md, /project/lost.md",
        ),
        ("docs", "'docs' is a folder; name a file in it"),
        ("''", "the path is empty; write the path of a file"),
        (
            "latin.md",
            "the file 'latin.md' is not UTF-8 text; save it as UTF-8; what is not text can be a "
            "PDF, or with `type: image` a PNG, JPEG, GIF or WebP image",
        ),
        (
            "https://example.org/a.md",
            "'https://example.org/a.md' is an address, not the path of a file; save it as a file "
            "and name that: what an address leads to may change",
        ),
    ],
    ids=["missing", "nearly there", "absolute", "folder", "empty", "not UTF-8", "address"],
)
def test_attachments_that_cannot_be_read(project: Project, value: str, expected: str) -> None:
    project.write(
        {
            "targets.yaml": MOCK,
            "evals/notes.md": "Notes",
            "docs/a.md": "A",
            "latin.md": "caf\xe9".encode("latin-1"),
        }
    )
    part = f"{{type: file, value: {value}}}"
    rest = f"    input_messages: [{{role: user, content: [{part}]}}]\n"
    project.write({"evals/a.eval.yaml": case_text(rest)})
    (line,) = said(project, "evals/a.eval.yaml")
    assert line == (
        "evals/a.eval.yaml:4:65  evalcases[0].input_messages[0].content[0].value  " + expected
    )


def test_a_file_that_nobody_may_read(project: Project) -> None:
    """Such a file is named; a socket or a pipe is no file of text at all."""
    os.mkfifo(project.folder / "pipe")
    rest = "    input_messages: [{role: user, content: [{type: file, value: pipe}]}]\n"
    assert said_of(project, case_text(rest)) == [
        "a.eval.yaml:4:65  evalcases[0].input_messages[0].content[0].value  "
        "'pipe' is not a regular file; name one that is"
    ]


def test_a_file_misspelt_in_many_cases_is_named_in_each(project: Project) -> None:
    part = "    input_messages: [{role: user, content: [{type: file, value: lost.md}]}]\n"
    text = case_text(part) + case_text(part).replace("one", "two").removeprefix("evalcases:\n")
    assert [line.split("  ")[:2] for line in said_of(project, text)] == [
        ["a.eval.yaml:4:65", "evalcases[0].input_messages[0].content[0].value"],
        ["a.eval.yaml:7:65", "evalcases[1].input_messages[0].content[0].value"],
    ]


def test_a_text_that_looks_like_a_role_marker_is_pointed_out(project: Project) -> None:
    """It is a warning: the suite may well be about such texts."""
    rest = '    input_messages: [{role: user, content: "Hi\\n@[User]:\\nHo"}]\n'
    assert said_of(project, case_text(rest)) == [
        "a.eval.yaml:4:44  evalcases[0].input_messages[0].content  "
        "a line of this text looks like a role marker; "
        "a reader of the formatted question could take it for a turn; reword or indent it"
    ]


def test_a_case_of_which_nothing_is_left_does_not_hide_the_others(project: Project) -> None:
    text = (
        "evalcases:\n  - 5\n  - {id: two, outcme: x, input_messages: [{role: user, content: q}]}\n"
    )
    assert said_of(project, text) == [
        "a.eval.yaml:2:5  evalcases[0]  expected a mapping, found the number 5",
        "a.eval.yaml:3:15  evalcases[1].outcme  unknown key 'outcme'; did you mean 'outcome'?",
    ]


def test_mistakes_under_a_misspelt_key_are_found_where_they_stand(project: Project) -> None:
    rest = """\
    input_mesages:
      - role: user
        contents:
          - {type: file, value: lost.md}
          - {type: file, valeu: lost.md}
          - {type: fil, value: lost.md}
"""
    text = f"evalcases:\n  - id: one\n    outcome: x\n{rest}"
    assert [line.split("; tried")[0] for line in said_of(project, text)] == [
        "a.eval.yaml:4:5  evalcases[0].input_mesages  unknown key 'input_mesages'; "
        "did you mean 'input_messages'?",
        "a.eval.yaml:6:9  evalcases[0].input_mesages[0].contents  unknown key 'contents'; "
        "did you mean 'content'?",
        "a.eval.yaml:7:33  evalcases[0].input_mesages[0].contents[0].value  no such file 'lost.md'",
        "a.eval.yaml:8:26  evalcases[0].input_mesages[0].contents[1].valeu  unknown key 'valeu'; "
        "did you mean 'value'?",
        "a.eval.yaml:8:33  evalcases[0].input_mesages[0].contents[1].valeu  no such file 'lost.md'",
        "a.eval.yaml:9:20  evalcases[0].input_mesages[0].contents[2].type  unknown type 'fil'; "
        "did you mean 'file'? one of text, image, file",
    ]


def test_a_key_that_belongs_elsewhere_hides_nothing(project: Project) -> None:
    rest = "    threshold: 1\n    evaluators: [{type: contians, value: x}]\n"
    assert [line.split("  ")[0] for line in said_of(project, case_text(rest))] == [
        *("a.eval.yaml:5:5", "a.eval.yaml:6:25")
    ]


def test_each_evaluator_is_checked_whole(project: Project) -> None:
    """A misspelt setting does not hide a file that is missing, nor does a missing one."""
    rest = """\
    evaluators:
      - {type: llm_judge, promt: lost/prompt.md, wieght: 2}
      - {type: code, cwd: lost}
      - {type: contains, valeu: ' '}
"""
    assert [line.split("; tried")[0] for line in said_of(project, case_text(rest))] == [
        "a.eval.yaml:6:27  evalcases[0].evaluators[0].promt  unknown key 'promt'; "
        "did you mean 'prompt'?",
        "a.eval.yaml:6:34  evalcases[0].evaluators[0].promt  no such file 'lost/prompt.md'",
        "a.eval.yaml:6:50  evalcases[0].evaluators[0].wieght  unknown key 'wieght'; "
        "did you mean 'weight'?",
        "a.eval.yaml:7:9  evalcases[0].evaluators[1].script  the key 'script' is missing",
        "a.eval.yaml:7:27  evalcases[0].evaluators[1].cwd  no such folder 'lost'",
        "a.eval.yaml:8:26  evalcases[0].evaluators[2].valeu  unknown key 'valeu'; "
        "did you mean 'value'?",
        "a.eval.yaml:8:33  evalcases[0].evaluators[2].valeu  the text to look for is blank; "
        "write the text that the answer should have",
    ]


def test_judges_that_evaluators_name_are_noted(project: Project) -> None:
    """A target is only judged by itself if some evaluator leaves the choice to it."""
    project.write({"targets.yaml": MOCK + "  - {name: j, provider: mock, response: '{}'}\n"})
    rest = "    evaluators: [{type: llm_judge, target: j}]\n"
    project.write({"a.eval.yaml": case_text(rest)})
    loaded = suite(project)
    assert (loaded.judges, loaded.judged) == (("j",), False)
    (case,) = loaded.suite.cases
    assert isinstance(case.evaluators[0], LlmJudgeOptions)
