"""The texts that an agent and VS Code are given."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentv.errors import AuthorError
from agentv.providers.vscode.jsonc import parse_jsonc
from agentv.providers.vscode.request_file import orchestrator_text, request_text
from agentv.providers.vscode.worker import Message
from agentv.providers.vscode.workspace_file import workspace_text


def message(stem: str, folder: str = "/w/messages") -> Message:
    return Message(
        request=Path(f"{folder}/{stem}_req.md"),
        draft=Path(f"{folder}/{stem}_res.tmp.md"),
        answer=Path(f"{folder}/{stem}_res.md"),
    )


def test_on_posix_the_agent_creates_the_answer_itself() -> None:
    assert (
        request_text("What?\n", message("1"), "file")
        == """\
[[ ## task ## ]]

What?

[[ ## system_instructions ## ]]

The answer is read from a file; what is said in the chat is not read by anybody.

1. Work the answer out completely before you write any of it.
2. Create this file, in one step, with the complete answer and nothing else in it:
   /w/messages/1_res.md
3. That ends this request. Use no terminal command to write or move the file, and leave
   `subagent.lock` alone: whoever waits for the file unlocks the workspace.
"""
    )


def test_on_windows_the_agent_moves_a_draft() -> None:
    """A quote in a user's name does not end PowerShell's text."""
    text = request_text("What?", message("1", "/o'brien"), "powershell")
    assert "write the complete answer, and nothing else, to it:\n   /o'brien/1_res.tmp.md" in text
    wanted = "-LiteralPath '/o''brien/1_res.tmp.md' -Destination '/o''brien/1_res.md'"
    assert f"```powershell\nMove-Item {wanted}\n```" in text


def test_braces_in_a_question_are_only_text() -> None:
    assert "{answer} {0}" in request_text("{answer} {0}", message("1"), "file")


def test_the_orchestrator_lists_every_request() -> None:
    text = orchestrator_text([message("1_0"), message("1_1")])
    assert "1. /w/messages/1_0_req.md -> 1_0_res.md\n2. /w/messages/1_1_req.md -> 1" in text
    assert "#runSubagent" in text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a": 1, // one\n /* two */ "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ('{"url": "http://x/*y*/", "c": ",]"}', {"url": "http://x/*y*/", "c": ",]"}),
        ('["a\\"//b", /* , */ 1, /* c */ ]', ['a"//b', 1]),
        ("\ufeff{}", {}),
    ],
    ids=["comments and commas", "in texts", "escapes", "byte order mark"],
)
def test_json_with_comments(text: str, wanted: Any) -> None:
    assert parse_jsonc(text) == wanted


def test_a_mistake_is_at_its_own_place() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_jsonc('{\n  /* a\n b */ "x": }')
    assert (caught.value.lineno, caught.value.colno) == (3, 12)


def test_without_a_template_a_window_opens_its_own_folder() -> None:
    assert json.loads(workspace_text(None))["folders"] == [{"path": "."}]


def test_a_templates_relative_places_are_made_absolute(tmp_path: Path) -> None:
    """In the worker's folder they would lead nowhere."""
    template = tmp_path / "sub" / "own.code-workspace"
    template.parent.mkdir()
    template.write_text(
        """{
        // comments are fine
        "folders": [
            {"path": "../shop", "name": "Shop"}, {"path": "/abs"}, {"uri": "vscode-remote://x"},
        ],
        "settings": {
            "chat.promptFilesLocations": {"prompts/**/*.md": true, "~/mine": true},
            "chat.modeFilesLocations": {"modes": false},
            "editor.fontSize": 3,
        },
        "extensions": {"recommendations": ["x.y"]},
    }"""
    )
    made = json.loads(workspace_text(template))
    assert made["folders"] == [
        {"path": "."},
        {"path": f"{tmp_path}/shop", "name": "Shop"},
        {"path": "/abs"},
        {"uri": "vscode-remote://x"},
    ]
    assert made["settings"] == {
        "chat.promptFilesLocations": {f"{tmp_path}/sub/prompts/**/*.md": True, "~/mine": True},
        "chat.modeFilesLocations": {".github/agents/**/*.md": True, f"{tmp_path}/sub/modes": False},
        "editor.fontSize": 3,
    }
    assert made["extensions"] == {"recommendations": ["x.y"]}


def test_a_folder_is_a_template_too(tmp_path: Path) -> None:
    made = json.loads(workspace_text(tmp_path))
    assert made["folders"] == [{"path": "."}, {"path": str(tmp_path)}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "own.code-workspace:1:2  not a workspace file: "),
        ("[]", "a workspace file is a mapping with `folders`"),
        ('{"folders": "x"}', "`folders` is a list of mappings"),
        ('{"folders": ["x"]}', "`folders` is a list of mappings"),
        ('{"settings": []}', "`settings` is a mapping"),
    ],
)
def test_a_template_that_is_none_says_why(tmp_path: Path, text: str, words: str) -> None:
    template = tmp_path / "own.code-workspace"
    template.write_text(text)
    with pytest.raises(AuthorError) as caught:
        workspace_text(template)
    assert words in str(caught.value)
