"""`.env` files, and variables in string values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaded import CASE, MOCK, lines, said

from agentv.loading.environment import interpolate, load_environment, malformed_references
from agentv.model.problem import LoadError
from agentv.testing import Project

OWNER = "target 'default'"


def filled(tree: Any, **env: str) -> Any:
    """A tree with its variables, none of which may be amiss."""
    done = interpolate(tree, env, OWNER)
    assert not done.mistakes
    return done.tree


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("${{ A }}", "1"),
        ("${{A}}", "1"),
        ("${{\tA\n}}", "1"),
        ("x${{ A }}y${{ B }}z", "x1y${{ A }}z"),
        ("$A ${A} {{ A }} $${{ A }}", "$A ${A} {{ A }} $1"),
        ({"${{ A }}": ["${{ A }}", {"b": "${{ A }}"}]}, {"${{ A }}": ["1", {"b": "1"}]}),
        ({"a": 1, "b": None, "c": True}, {"a": 1, "b": None, "c": True}),
    ],
    ids=["alone", "tight", "wide", "in a text", "other notations", "nested", "no text"],
)
def test_variables_in_values(tree: Any, expected: Any) -> None:
    """In values only, once only: what a variable holds is not read for variables again."""
    assert filled(tree, A="1", B="${{ A }}") == expected


def test_what_was_put_in_is_known_with_its_keys() -> None:
    done = interpolate(
        {"a": "${{ X }}", "b": {"c": ["${{ X }}${{ Y }}"]}}, {"X": "1", "Y": "2"}, ""
    )
    assert done.used == {"X": "1", "Y": "2"}
    assert done.keys == {"X": {"a", "c"}, "Y": {"c"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${{ }}", "'${{ }}' does not name a variable"),
        ("${{ A-B }}", "'${{ A-B }}' does not name a variable"),
        ("${{ 1A }}", "'${{ 1A }}' does not name a variable"),
        ("${{ env.A }}", "'${{ env.A }}' does not name a variable"),
        ("${{ A", "'${{ A' has no end"),
        ("${{ A }", "'${{ A }' has no end"),
        ("${{ A and ${{ B }}", "'${{ A and ${{ B }}' does not name a variable"),
    ],
)
def test_references_that_could_never_name_a_variable(text: str, expected: str) -> None:
    """They are found without knowing any variable, and never taken for plain text."""
    assert [mistake.message for mistake in malformed_references({"k": [text]})] == [expected]
    (mistake,) = interpolate({"k": [text]}, {"A": "1", "B": "2"}, OWNER).mistakes
    assert (mistake.message, mistake.path) == (expected, ("k", 0))


@given(st.text(), st.text())
def test_texts_without_a_reference_stay_as_they_are(text: str, value: str) -> None:
    if "${{" not in text:
        assert filled(text, A=value) == text


def test_the_process_wins_over_the_file(project: Project) -> None:
    project.write({".env": "A=file\nB=file\n"})
    environment = load_environment([project.folder], {"A": "process", "C": "process"})
    assert environment.values == {"A": "process", "B": "file", "C": "process"}
    assert environment.from_file == {"B"}
    assert environment.file == project.folder / ".env"


def test_the_first_file_on_the_way_is_the_only_one(project: Project) -> None:
    """From the eval file's folder up to the repository root, then the working directory."""
    folders = [project.folder / name for name in ("evals", ".", "elsewhere")]
    assert load_environment(folders, {"A": "1"}).file is None
    for name in ("elsewhere/.env", ".env", "evals/.env"):
        project.write({name: f"FROM={name}\n"})
        assert load_environment(folders, {}).values == {"FROM": name}


def test_a_target_takes_its_variables_from_the_file_nearest_to_the_suite(project: Project) -> None:
    """Two suites with one targets file may have two environments."""
    project.write(
        {
            "targets.yaml": MOCK.replace("hi", "'${{ WHO }}'"),
            "a/.env": "WHO=from a",
            "b/.env": "",
            "a/a.eval.yaml": f"evalcases:\n{CASE}",
            "b/a.eval.yaml": f"evalcases:\n{CASE}",
        }
    )
    assert said(project, "a/a.eval.yaml") == []
    assert said(project, "b/a.eval.yaml") == [
        "targets.yaml:2:47  targets[0].response  "
        "the variable WHO is not set, and target 'default' needs it for 'response'; "
        "set it in the environment or in a .env file: WHO=…"
    ]


def test_the_notation_of_env_files(project: Project) -> None:
    """Quotes, comments and `export`; nothing is put in for `$NAME`, which keys may well hold."""
    content = (
        "\ufeff# a comment\r\nPLAIN=a b # said\r\nexport SHELL_LIKE=x\r\n\r\n"
        "QUOTED=\"two\\nlines\"\r\nSINGLE='as $PLAIN ${PLAIN}'\r\nKEY=a$b${PLAIN}c\r\n"
        "EMPTY=\r\nBARE\r\n"
    )
    project.write({".env": content})
    assert load_environment([project.folder], {}).values == {
        "PLAIN": "a b",
        "SHELL_LIKE": "x",
        "QUOTED": "two\nlines",
        "SINGLE": "as $PLAIN ${PLAIN}",
        "KEY": "a$b${PLAIN}c",
        "EMPTY": "",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"A=1\n\n= secret\nB=2\n'C\n",
            [
                "/project/.env:3  this line sets no variable; "
                "write NAME=value, and quotes around a value that has quotes or line breaks",
                "/project/.env:5  this line sets no variable; "
                "write NAME=value, and quotes around a value that has quotes or line breaks",
            ],
        ),
        (b"A=caf\xe9\n", ["/project/.env:1:6  the byte 0xE9 is not UTF-8; save the file as UTF-8"]),
    ],
    ids=["syntax", "not UTF-8"],
)
def test_an_env_file_that_cannot_be_read_is_an_error(
    project: Project, content: bytes, expected: list[str]
) -> None:
    """It is reported with its line and without its text, beside the suite's own mistakes."""
    project.write({".env": content, "a.eval.yaml": f"evalcases:\n{CASE}    nte: x\n"})
    with pytest.raises(LoadError) as caught:
        load_environment([project.folder], {})
    assert lines(list(caught.value.problems), project.folder) == expected
    assert said(project) == [
        *expected,
        "a.eval.yaml:5:5  evalcases[0].nte  unknown key 'nte'; did you mean 'note'?",
    ]
