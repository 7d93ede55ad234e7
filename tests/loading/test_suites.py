"""Eval files: every mistake at its line, none hidden by another, none made up."""

import hashlib
from typing import Any

import pytest
from loaded import CASE, MOCK, context, lines, said, said_of, suite

from agentv.loading.document import Document
from agentv.loading.suites import load_document, load_suite
from agentv.model.problem import LoadError
from agentv.testing import Project

TEN_MISTAKES = """\
$schema: agentv-eval-v2
descripton: Ten mistakes
target: defualt
execution:
  threshold: 1.5
evalcases:
  - id: greeting
    outcom: A greeting.
    input_messages:
      - {role: usr, content: Hello}
  - id: greeting
    outcome: A greeting.
    input_messages:
      - role: user
        content:
          - {type: file, value: notes/helo.md}
  - id: counted
    outcome: A sum.
    evaluaters:
      - {type: contians, value: "3"}
      - {type: llm_judge, promt: "Is {{ candidate_answer }} 3?"}
    input_messages:
      - {role: user, content: 1 + 2?}
"""


def test_all_mistakes_of_a_file_are_found_at_once(project: Project) -> None:
    """Ten mistakes are ten errors, each where it stands, and nothing follows from another.

    The case with the misspelt `outcom` has an outcome, and the one with the misspelt `evaluaters`
    has evaluators: it is not held to the default one.
    """
    project.write({"notes/hello.md": "Hello", "notes/other.txt": ""})
    assert said_of(project, TEN_MISTAKES) == [
        "a.eval.yaml:2:1  descripton  unknown key 'descripton'; did you mean 'description'?",
        "a.eval.yaml:3:9  target  unknown target 'defualt'; did you mean 'default'?",
        "a.eval.yaml:5:14  execution.threshold  the number 1.5 is out of range; "
        "write a number from 0 to 1",
        "a.eval.yaml:8:5  evalcases[0].outcom  unknown key 'outcom'; did you mean 'outcome'?",
        "a.eval.yaml:10:16  evalcases[0].input_messages[0].role  unknown role 'usr'; "
        "did you mean 'user'? one of system, user, assistant, tool",
        "a.eval.yaml:11:9  evalcases[1].id  the id 'greeting' is already taken by evalcases[0]; "
        "ids are unique",
        "a.eval.yaml:16:33  evalcases[1].input_messages[0].content[0].value  "
        "no such file 'notes/helo.md'; did you mean 'notes/hello.md'? tried /project/notes/helo.md",
        "a.eval.yaml:19:5  evalcases[2].evaluaters  unknown key 'evaluaters'; "
        "did you mean 'evaluators'?",
        "a.eval.yaml:20:16  evalcases[2].evaluaters[0].type  unknown evaluator 'contians'; "
        "did you mean 'contains'?",
        "a.eval.yaml:21:27  evalcases[2].evaluaters[1].promt  unknown key 'promt'; "
        "did you mean 'prompt'?",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"",
            "a.eval.yaml:1:1  the file is empty; "
            "an eval file starts with `evalcases:`, a targets file with `targets:`",
        ),
        (
            b"# nothing yet\n",
            "a.eval.yaml:1:1  the file is empty; "
            "an eval file starts with `evalcases:`, a targets file with `targets:`",
        ),
        (
            b"\n- id: one\n",
            "a.eval.yaml:2:1  expected a mapping, found a list; "
            "an eval file is a mapping; its cases are a list under `evalcases:`",
        ),
        (
            b"hello\n",
            "a.eval.yaml:1:1  expected a mapping, found the text 'hello'; "
            "an eval file is a mapping; its cases are a list under `evalcases:`",
        ),
        (
            b"evalcases: []\nnote: \x89PNG\n",
            "a.eval.yaml:2:7  the byte 0x89 is not UTF-8; save the file as UTF-8",
        ),
        (
            b"description: none\n",
            "a.eval.yaml:1:1  evalcases  the key 'evalcases' is missing",
        ),
        (
            b"evalcases: []\n",
            "a.eval.yaml:1:12  evalcases  there are no eval cases; "
            "a suite without cases proves nothing; add one",
        ),
        (
            b"evalcases: 5\n",
            "a.eval.yaml:1:12  evalcases  expected a list or text, found the number 5; "
            'write it in quotes: "5"',
        ),
        (
            b"evalcases: [5]\n",
            "a.eval.yaml:1:13  evalcases[0]  expected a mapping, found the number 5",
        ),
        (
            b"evalcase: []\n",
            "a.eval.yaml:1:1  evalcase  unknown key 'evalcase'; did you mean 'evalcases'?\n"
            "a.eval.yaml:1:11  evalcase  there are no eval cases; "
            "a suite without cases proves nothing; add one",
        ),
    ],
    ids=[
        *("empty", "only a comment", "a list", "a scalar", "binary", "no cases at all"),
        *("an empty list of cases", "a number of cases", "no case", "misspelt and empty"),
    ],
)
def test_file_that_is_no_suite(project: Project, content: bytes, expected: str) -> None:
    project.write({"a.eval.yaml": content})
    assert "\n".join(said(project)) == expected


def test_missing_file_and_folder(project: Project) -> None:
    project.write({"folder/x.md": ""})
    assert said(project, "b.eval.yaml") == ["b.eval.yaml  no such file"]
    assert said(project, "folder") == ["folder  this is a folder, not a file"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + f"evalcases:\n{CASE}".encode(),
        f"evalcases:\n{CASE}".replace("\n", "\r\n").encode(),
        f"evalcases:\n{CASE}".rstrip().encode(),
    ],
    ids=["byte-order mark", "CRLF", "no final newline"],
)
def test_text_as_editors_save_it(project: Project, content: bytes) -> None:
    project.write({"a.eval.yaml": content})
    (case,) = suite(project).suite.cases
    assert (case.id, case.expected_outcome) == ("one", "A greeting.")
    assert case.input_messages[0].content == "Hello"


def test_a_misspelt_list_of_cases_is_read_all_the_same(project: Project) -> None:
    """What is wrong in the cases is found as well, at its place."""
    assert said_of(project, f"evalcsaes:\n{CASE}    nte: x\n") == [
        "a.eval.yaml:1:1  evalcsaes  unknown key 'evalcsaes'; did you mean 'evalcases'?",
        "a.eval.yaml:5:5  evalcsaes[0].nte  unknown key 'nte'; did you mean 'note'?",
    ]


def test_duplicate_keys_and_bad_syntax(project: Project) -> None:
    assert said_of(project, f"target: default\ntarget: default\nevalcases:\n{CASE}") == [
        "a.eval.yaml:2:1  target  duplicate key 'target'; it is already in line 1; keep one"
    ]


def test_a_suite_with_everything(project: Project) -> None:
    loaded = suite(
        project.write(
            {
                "a.eval.yaml": f"""$schema: agentv-eval-v2
description: All of it
dataset: greetings
target: default
execution: {{threshold: 0.5, min_pass_rate: 0.9}}
evalcases:
{CASE}"""
            }
        )
    )
    own = loaded.suite
    assert (own.shown, own.dataset, own.description) == ("a.eval.yaml", "greetings", "All of it")
    assert (own.target, own.threshold, own.min_pass_rate) == ("default", 0.5, 0.9)
    assert (own.root, own.path) == (project.folder, project.folder / "a.eval.yaml")
    assert own.digest == hashlib.sha256(own.path.read_bytes()).hexdigest()
    assert (loaded.total_cases, loaded.target_names, loaded.judged) == (1, ("default",), True)


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("greetings.eval.yaml", "greetings"),
        ("greetings.yml", "greetings"),
        ("v1.2.yaml", "v1.2"),
    ],
)
def test_a_suite_is_called_by_its_file(project: Project, name: str, dataset: str) -> None:
    project.write({name: f"evalcases:\n{CASE}"})
    assert suite(project, name).suite.dataset == dataset


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("target: default\nexecution: {target: default}\n", []),
        (
            "target: default\nexecution: {target: other}\n",
            [
                "a.eval.yaml:2:21  execution.target  the suite's target is 'default' and 'other'; "
                "keep one"
            ],
        ),
        (
            "execution: {target: othr}\n",
            [
                "a.eval.yaml:1:21  execution.target  unknown target 'othr'; did you mean 'other'?",
            ],
        ),
        (
            "target: zzz\n",
            ["a.eval.yaml:1:9  target  unknown target 'zzz'; the targets file has default, other"],
        ),
        (
            "tagret: other\n",
            ["a.eval.yaml:1:1  tagret  unknown key 'tagret'; did you mean 'target'?"],
        ),
    ],
    ids=["said twice", "conflict", "unknown", "unlike any", "misspelt"],
)
def test_the_target_of_a_suite(project: Project, head: str, expected: list[str]) -> None:
    project.write({"targets.yaml": MOCK + "  - {name: other, provider: mock, response: ho}\n"})
    assert said_of(project, f"{head}evalcases:\n{CASE}") == expected


OTHERS = "targets:\n  - {name: a, provider: mock, response: hi}\n"


def test_without_a_default_target_the_suite_must_name_one(project: Project) -> None:
    project.write({"targets.yaml": OTHERS})
    assert said_of(project, f"evalcases:\n{CASE}") == [
        "a.eval.yaml:1:1  the suite names no target, and no target is called 'default'; "
        "add `target: …`, one of a"
    ]
    pinned = CASE + "    execution: {target: a}\n"
    assert said_of(project, f"evalcases:\n{pinned}") == []
    assert said_of(project, f"target: 5\nevalcases:\n{CASE}") == [
        'a.eval.yaml:1:9  target  expected text, found the number 5; write it in quotes: "5"'
    ]


def test_a_target_that_was_asked_for_replaces_the_suite_s(project: Project) -> None:
    project.write({"targets.yaml": OTHERS, "a.eval.yaml": f"target: b\nevalcases:\n{CASE}"})
    loaded = suite(project, target_names=("a",))
    assert (loaded.target_names, loaded.suite.target) == (("a",), "b")


def test_no_targets_file(project: Project) -> None:
    project.write({"evals/a.eval.yaml": f"evalcases:\n{CASE}"})
    path = project.folder / "evals" / "a.eval.yaml"
    loaded = load_suite(path, context(project))
    assert lines(loaded.problems, project.folder) == [
        "evals/a.eval.yaml  no targets file was found for this suite; "
        "run `agentv init` or write one; tried /project/evals/targets.yaml, "
        "/project/targets.yaml, and .agentv/targets.yaml beside each"
    ]
    assert load_suite(path, context(project, targets_needed=False)).problems == []


def test_a_broken_targets_file_does_not_hide_the_suite_s_mistakes(project: Project) -> None:
    project.write({"targets.yaml": "targets: [\n"})
    problems = said_of(project, f"evalcases:\n{CASE}    nte: x\n    execution: {{target: b}}\n")
    assert [line.split("  ")[0] for line in problems] == ["targets.yaml:1:11", "a.eval.yaml:5:5"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", ["llm_judge"]),
        ("evaluator: is_json\n", ["is_json"]),
        ("execution: {evaluators: [{type: contains, value: x}]}\n", ["contains"]),
        (
            "evaluator: is_json\nexecution: {evaluators: [{type: contains, value: x}]}\n",
            ["contains"],
        ),
    ],
    ids=["nothing", "a kind", "a list", "the list wins"],
)
def test_evaluators_of_cases_that_name_none(
    project: Project, head: str, expected: list[str]
) -> None:
    project.write({"a.eval.yaml": f"{head}evalcases:\n{CASE}"})
    (case,) = suite(project).suite.cases
    assert [options.type for options in case.evaluators] == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "execution: {evaluators: []}\n",
            "a.eval.yaml:1:25  execution.evaluators  the list of evaluators is empty, "
            "so nothing is asserted; "
            "name at least one evaluator, or leave the key out to use the suite's",
        ),
        (
            "evaluator: llm_jugde\n",
            "a.eval.yaml:1:12  evaluator  unknown evaluator 'llm_jugde'; did you mean 'llm_judge'?",
        ),
        (
            "evaluator: contains\n",
            "a.eval.yaml:1:12  evaluator  the evaluator 'contains' cannot do without settings; "
            "list it: `evaluators: [{type: contains, value: …}]`",
        ),
        (
            "execution: {evaluaters: [{type: contains, value: x}]}\n",
            "a.eval.yaml:1:13  execution.evaluaters  unknown key 'evaluaters'; "
            "did you mean 'evaluators'?",
        ),
        (
            "execution: {graders: [{type: contains, value: x}]}\n",
            "a.eval.yaml:1:13  execution.graders  unknown key 'graders'; "
            "one of target, evaluators, threshold, min_pass_rate",
        ),
        (
            "execution: {evaluators: {type: contains, value: x}}\n",
            "a.eval.yaml:1:25  execution.evaluators  expected a list, found a mapping; "
            "put it in a list",
        ),
    ],
    ids=["empty list", "unknown kind", "kind with settings", "misspelt", "no such key", "no list"],
)
def test_a_default_that_is_not_there_holds_no_case_to_another(
    project: Project, head: str, expected: str
) -> None:
    """The case has no outcome, which only matters to a judge that nobody asked for."""
    silent = CASE.replace("    outcome: A greeting.\n", "")
    assert said_of(project, f"{head}evalcases:\n{silent}") == [expected]


def test_evaluators_of_a_program_replace_the_suite_s(project: Project) -> None:
    project.write({"a.eval.yaml": f"evalcases:\n{CASE}"})
    loaded = suite(project, evaluators=({"type": "contains", "value": "x"},))
    (case,) = loaded.suite.cases
    assert [options.type for options in case.evaluators] == ["contains"]
    assert said(project, evaluators=({"type": "contain", "value": "x"},)) == [
        "<evaluators>  [0].type  unknown evaluator 'contain'; did you mean 'contains'?"
    ]


def test_only_selected_cases_decide_what_is_needed(project: Project) -> None:
    """Cases that take no part are checked, but need no target of their own."""
    two = CASE + CASE.replace("one", "two") + "    execution: {target: broken}\n"
    project.write(
        {
            "targets.yaml": MOCK + "  - {name: broken, provider: mock, response: '${{ NO }}'}\n",
            "a.eval.yaml": f"evalcases:\n{two}",
        }
    )
    loaded = suite(project, select=lambda id_: id_ == "one")
    assert [case.id for case in loaded.suite.cases] == ["one"]
    assert (loaded.total_cases, dict(loaded.case_targets)) == (2, {})
    assert said(project) == [
        "targets.yaml:3:46  targets[1].response  the variable NO is not set, and target 'broken' "
        "needs it for 'response'; set it in the environment or in a .env file: NO=…"
    ]


def test_a_suite_from_a_program_has_key_paths_only(project: Project) -> None:
    tree: dict[str, Any] = {"evalcases": [{"id": "a", "input_messages": []}], "targt": "x"}
    document = Document(shown="<suite>", text=None, tree=tree)
    loaded = load_document(
        document, project.folder / "suite", context(project, targets_needed=False)
    )
    assert lines(loaded.problems, project.folder) == [
        "<suite>  targt  unknown key 'targt'; did you mean 'target'?",
        "<suite>  evalcases[0].input_messages  must not be empty",
        "<suite>  evalcases[0]  the case has no `outcome`, and its judge needs one; "
        "say in a sentence what a good answer achieves",
    ]
    assert loaded.suite.dataset == "suite"


def test_what_is_no_mapping_is_no_suite(project: Project) -> None:
    document = Document(shown="<suite>", text=None, tree=[])
    with pytest.raises(LoadError) as caught:
        load_document(document, project.folder / "suite", context(project))
    assert lines(list(caught.value.problems), project.folder) == [
        "<suite>  expected a mapping, found a list; "
        "an eval file is a mapping; its cases are a list under `evalcases:`"
    ]
