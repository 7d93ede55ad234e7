"""The document that agents are given."""

import pytest

from agentv.core.preread import missing_file, preread_document


def test_a_question_without_files_is_its_own_section() -> None:
    """Nothing is to be read first, so nothing says so."""
    assert preread_document("What is 2+2?\n") == "[[ ## user_query ## ]]\n\nWhat is 2+2?\n"


def test_guidelines_and_files_are_linked_before_the_query() -> None:
    """Scenario: VS Code provider - a mandatory preread block links files by `file://` URLs."""
    document = preread_document(
        "Review it.",
        guidelines=["/repo/python.instructions.md"],
        files=["/repo/src/a b.py", "/repo/src/[x].py"],
    )
    assert document == (
        "[[ ## preread ## ]]\n\n"
        "Read all guideline files:\n"
        "* [python.instructions.md](file:///repo/python.instructions.md)\n\n"
        "Read all input files:\n"
        "* [a b.py](file:///repo/src/a%20b.py)\n"
        "* [\\[x\\].py](file:///repo/src/%5Bx%5D.py)\n\n"
        "Open every file above before anything else. If one of them cannot be opened, answer with\n"
        "the single line `ERROR: missing-file <file name>` and stop.\n"
        "Then follow the guidelines while you work on the query below.\n\n"
        "[[ ## user_query ## ]]\n\nReview it.\n"
    )


def test_a_judges_instructions_stand_above_the_query() -> None:
    """An agent that serves as a judge gets the judge's contract in the same document."""
    document = preread_document("Score it.", system_prompt="Answer in JSON.")
    assert document == (
        "[[ ## system_instructions ## ]]\n\nAnswer in JSON.\n\n"
        "[[ ## user_query ## ]]\n\nScore it.\n"
    )


@pytest.mark.parametrize(
    ("answer", "file"),
    [
        ("ERROR: missing-file notes.md", "notes.md"),
        ("\nERROR: missing-file  a b.md \n", "a b.md"),
        ("It said ERROR: missing-file notes.md", None),
        ("ERROR: missing-file notes.md\nbut here is my answer", None),
        ("ERROR: missing-file", None),
        ("", None),
    ],
)
def test_only_an_answer_that_says_nothing_else_reports_a_missing_file(
    answer: str, file: str | None
) -> None:
    """An answer that mentions the words in passing is an answer."""
    assert missing_file(answer) == file
