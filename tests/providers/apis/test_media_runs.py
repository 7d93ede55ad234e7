"""Images and PDFs in whole runs: what each API is sent, what is refused, and what stays out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_vendor import BatchVendor
from test_against_vendor import KEY, PROVIDERS, target
from test_batch_apis import APIS, settings

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from media_samples import GIF, PDF, PNG, base64, png, sha256
from vendor import Vendor, failure

ONE_TURN = """\
    input_messages:
      - {role: system, content: [{type: file, value: tone.instructions.md}]}
      - role: user
        content:
          - {type: text, value: Does case-1 fit}
          - {type: image, value: receipt.png}
          - {type: text, value: to}
          - {type: file, value: terms.pdf}
"""
THREE_TURNS = """\
    input_messages:
      - {role: system, content: Be kind.}
      - role: user
        content: [{type: image, value: receipt.png}, {type: text, value: "What is it, case-1?"}]
      - {role: assistant, content: A receipt.}
      - {role: user, content: [{type: file, value: terms.pdf}, {type: text, value: And this?}]}
"""
FILES: dict[str, str | bytes] = {
    "receipt.png": PNG,
    "terms.pdf": PDF,
    "tone.instructions.md": "Be brief.",
}

CHECK_BATCHED = {"type": "contains", "value": "batched"}

IMAGE_URL = f"data:image/png;base64,{base64(PNG)}"
PDF_URL = f"data:application/pdf;base64,{base64(PDF)}"


def chat(*parts: Any) -> dict[str, Any]:
    shown = {
        "png": {"type": "image_url", "image_url": {"url": IMAGE_URL}},
        "pdf": {"type": "file", "file": {"filename": "terms.pdf", "file_data": PDF_URL}},
    }
    return user([shown.get(part) or {"type": "text", "text": part} for part in parts])


def responses(*parts: Any) -> dict[str, Any]:
    shown = {
        "png": {"type": "input_image", "image_url": IMAGE_URL, "detail": "auto"},
        "pdf": {"type": "input_file", "filename": "terms.pdf", "file_data": PDF_URL},
    }
    return user([shown.get(part) or {"type": "input_text", "text": part} for part in parts])


def anthropic(*parts: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": base64(PNG)}
    document = {"type": "base64", "media_type": "application/pdf", "data": base64(PDF)}
    shown = {
        "png": {"type": "image", "source": source},
        "pdf": {"type": "document", "source": document},
    }
    return user([shown.get(part) or {"type": "text", "text": part} for part in parts])


def gemini(*parts: Any) -> dict[str, Any]:
    shown = {
        "png": {"inlineData": {"mimeType": "image/png", "data": base64(PNG)}},
        "pdf": {"inlineData": {"mimeType": "application/pdf", "data": base64(PDF)}},
    }
    return {"role": "user", "parts": [shown.get(part) or {"text": part} for part in parts]}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


DIALECTS = {
    "openai": ("messages", chat),
    "responses": ("input", responses),
    "azure": ("messages", chat),
    "anthropic": ("messages", anthropic),
    "gemini": ("contents", gemini),
}


def suite(turns: str = ONE_TURN, check: str = "{type: contains, value: was asked}") -> str:
    case = f"  - id: one\n    outcome: Says it.\n{turns}"
    return f"target: llm\nexecution:\n  evaluators: [{check}]\nevalcases:\n{case}"


def prepared(project: Project, targets: str, evals: str) -> Project:
    own = {".env": f"VENDOR_KEY={KEY}\n", "targets.yaml": f"targets:\n{targets}", "e.yaml": evals}
    return project.write({**FILES, **own})


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with Vendor(key=KEY) as vendor:
        yield vendor


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_single_turn(provider: str, vendor: Vendor, project: Project) -> None:
    """The parts stand where the author put them, each behind its reference in the text."""
    prepared(project, target(provider, vendor), suite())
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err

    [asked] = vendor.asked
    key, turn = DIALECTS[provider]
    [said] = [m for m in asked.body[key] if m["role"] != "system"]
    assert said == turn(
        "<Attached: tone.instructions.md>\n\nDoes case-1 fit\n\n<Attached: receipt.png>",
        "png",
        "to\n\n<Attached: terms.pdf>",
        "pdf",
    )
    assert "Be brief." in asked.question.system


@pytest.mark.parametrize("provider", PROVIDERS)
def test_several_turns(provider: str, vendor: Vendor, project: Project) -> None:
    """Each part goes into its own turn."""
    prepared(project, target(provider, vendor), suite(THREE_TURNS))
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err

    [asked] = vendor.asked
    key, turn = DIALECTS[provider]
    first, answer, second = (m for m in asked.body[key] if m["role"] != "system")
    assert first == turn("<Attached: receipt.png>", "png", "What is it, case-1?")
    assert second == turn("<Attached: terms.pdf>", "pdf", "And this?")
    words = answer.get("content") or answer["parts"][0]["text"]
    assert words == "A receipt."
    assert asked.question.system == "Be kind."


@pytest.mark.parametrize("api", APIS)
def test_a_batch(api: str, project: Project) -> None:
    """Written by the same hands as single requests."""
    outcome, bodies = batched(project, api, {"a.png": PNG, "b.png": png(shade=7)})
    assert outcome.code == ExitCode.OK, outcome.err
    assert [base64(PNG) in body for body in bodies] == [True, False]
    assert [base64(png(shade=7)) in body for body in bodies] == [False, True]


def test_what_an_api_does_not_take_is_in_no_batch(project: Project) -> None:
    outcome, bodies = batched(project, "gemini", {"a.png": PNG, "b.gif": GIF})
    assert outcome.code == ExitCode.ERRORS
    assert [base64(PNG) in body for body in bodies] == [True]
    errors = {row["eval_id"]: row["error"] for row in project.rows()}
    assert errors["a.png"] is None
    assert errors["b.gif"]["kind"] == "media_type"


def batched(
    project: Project, api: str, images: dict[str, str | bytes]
) -> tuple[Outcome, list[str]]:
    """A run with a case for each image, and the bodies of its one batch."""
    cases = [
        {
            "id": name,
            "outcome": "Says it.",
            "input_messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "value": f"What is case {name.partition('.')[0]}?"},
                        {"type": "image", "value": name},
                    ],
                }
            ],
        }
        for name in images
    ]
    evals = {"evalcases": cases, "execution": {"evaluators": [CHECK_BATCHED]}}
    with BatchVendor() as vendor:
        keys = {"api_key": "vendor-key", "provider_batching": True, "batch_poll_seconds": 0.01}
        targets = {"targets": [{"name": "default", **settings(api, vendor.url), **keys}]}
        project.write({"targets.yaml": json.dumps(targets), "e.eval.yaml": json.dumps(evals)})
        outcome = project.write(images).run("eval", "e.eval.yaml")
        [batch] = vendor.batches.values()
    return outcome, [json.dumps(body) for _, _, body in batch.items]


def test_rows_and_dumps_say_what_was_shown_and_hold_no_bytes(
    vendor: Vendor, project: Project
) -> None:
    prepared(project, target("openai", vendor), suite(THREE_TURNS))
    project.run("eval", "e.yaml", "--dump-prompts", "prompts")
    [row] = project.rows()
    image = {
        "path": "receipt.png",
        "resolved_path": str(project.folder / "receipt.png"),
        "media_type": "image/png",
        "size": len(PNG),
        "sha256": sha256(PNG),
        "at": len("@[System]:\nBe kind.\n\n@[User]:\n<Attached: receipt.png>"),
    }
    request = row["raw_request"]
    assert request["media"][0] == image
    assert [file["path"] for file in request["media"]] == ["receipt.png", "terms.pdf"]
    assert request["chat_prompt"][1] == {
        "role": "user",
        "content": "<Attached: receipt.png>\nWhat is it, case-1?",
        "media": [{**image, "at": len("<Attached: receipt.png>")}],
    }
    assert request["chat_prompt"][2] == {"role": "assistant", "content": "A receipt."}
    [dump] = (project.folder / "prompts").iterdir()
    assert json.loads(dump.read_text())["raw_request"] == request
    for path in project.folder.rglob("*"):
        if path.is_file():
            assert base64(PNG)[:24].encode() not in path.read_bytes(), path
            assert base64(PDF)[:24].encode() not in path.read_bytes(), path


def test_a_judge_is_told_what_was_attached(vendor: Vendor, project: Project) -> None:
    """The image itself is for the candidate alone."""
    candidate = "  - {name: llm, provider: mock, response: A receipt.}\n"
    judge = "{type: llm_judge, target: judge}"
    prepared(project, candidate + target("anthropic", vendor, "judge"), suite(check=judge))
    assert project.run("eval", "e.yaml").code == ExitCode.OK
    [asked] = vendor.asked
    assert isinstance(asked.body["messages"][0]["content"], str)
    assert "<Attached: receipt.png>" in asked.question.text


def test_commands_are_given_the_path(project: Project) -> None:
    target = {
        "name": "llm",
        "provider": "cli",
        "command_template": "printf '%s ' {PROMPT}; wc -c < receipt.png; printf '%s\\n' {FILES}",
    }
    prepared(project, "", suite(check="{type: contains, value: receipt.png}"))
    project.write({"targets.yaml": f"targets: [{json.dumps(target)}]"})
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err
    [row] = project.rows()
    assert row["candidate_answer"].splitlines() == [
        "<Attached: tone.instructions.md>",
        "",
        "Does case-1 fit",
        "",
        "<Attached: receipt.png>",
        "",
        "to",
        "",
        f"<Attached: terms.pdf> {len(PNG)}",
        *(str(project.folder / name) for name in ("tone.instructions.md", "receipt.png")),
        str(project.folder / "terms.pdf"),
    ]


def test_in_agent_mode_an_api_is_told_paths_alone(vendor: Vendor, project: Project) -> None:
    prepared(project, target("openai", vendor, prompt_mode="agent"), suite())
    assert project.run("eval", "e.yaml").code == ExitCode.OK
    [asked] = vendor.asked
    assert asked.body["messages"][-1]["content"].endswith(
        'Does case-1 fit\n\n<file: path="receipt.png">\n\nto\n\n<file: path="terms.pdf">'
    )
    [row] = project.rows()
    assert "media" not in row["raw_request"]


def test_what_a_model_does_not_take_its_service_says(project: Project) -> None:
    refusal = failure(400, "This model does not support image inputs.")
    with Vendor(key=KEY, script={"case-1": [refusal]}) as vendor:
        prepared(project, target("openai", vendor), suite())
        assert project.run("eval", "e.yaml").code == ExitCode.ERRORS
    [row] = project.rows()
    assert "This model does not support image inputs." in row["error"]["message"]


def test_an_image_that_is_too_large_is_not_sent(vendor: Vendor, project: Project) -> None:
    prepared(project, target("anthropic", vendor), suite())
    project.write({"receipt.png": PNG + bytes(8_000_000)})
    assert project.run("eval", "e.yaml").code == ExitCode.ERRORS
    [row] = project.rows()
    assert row["error"] == {
        "kind": "media_size",
        "message": "'receipt.png' has 7.63 MB; the Anthropic API takes 7.5 MB of an image",
        "detail": None,
    }
    assert vendor.asked == []


def test_a_kind_of_image_that_an_api_does_not_take(vendor: Vendor, project: Project) -> None:
    prepared(project, target("gemini", vendor), suite().replace("receipt.png", "a.gif"))
    project.write({"a.gif": GIF})
    assert project.run("eval", "e.yaml").code == ExitCode.ERRORS
    [row] = project.rows()
    assert row["error"] == {
        "kind": "media_type",
        "message": "'a.gif' is a GIF; the Gemini API takes PNG, JPEG, WebP, PDF",
        "detail": None,
    }
    assert vendor.asked == []


def test_an_image_that_changes_while_the_run_is_under_way(project: Project) -> None:
    """What the row says was shown is what was sent, or nothing was sent."""
    with Vendor(key=KEY, answer=lambda _: _overwrite(project.folder / "receipt.png")) as vendor:
        two = suite() + suite().split("evalcases:\n")[1].replace("id: one", "id: two")
        prepared(project, target("openai", vendor), two)
        outcome = project.run("eval", "e.yaml")
        assert len(vendor.asked) == 1, outcome.err
    errors = [row["error"] for row in project.rows() if row["error"]]
    assert [(error["kind"], error["message"]) for error in errors] == [
        ("attachment", "the file 'receipt.png' was changed while the run was under way")
    ]


def test_a_changed_image_is_asked_about_anew(vendor: Vendor, project: Project) -> None:
    """The response cache goes by contents, not by names."""
    prepared(project, target("openai", vendor), suite())
    digests = []
    for image in (PNG, PNG, png(shade=9)):
        project.write({"receipt.png": image})
        assert project.run("eval", "e.yaml", "--cache").code == ExitCode.OK
        digests.append((len(vendor.asked), project.rows()[0]["digest"]))
    assert [count for count, _ in digests] == [1, 1, 2]
    assert digests[0][1] == digests[1][1] != digests[2][1]


def test_the_example_runs_without_a_key(project: Project) -> None:
    for path in (Path(__file__).parents[3] / "examples" / "receipts").rglob("*.*"):
        project.write({str(path).partition("/receipts/")[2]: path.read_bytes()})
    outcome = project.run("eval", "receipts.eval.yaml")
    assert outcome.code == ExitCode.OK, outcome.err
    media = [file["path"] for row in project.rows() for file in row["raw_request"]["media"]]
    assert media == ["files/lunch.png", "files/travel-rules.pdf", "files/lunch.png"]


def _overwrite(path: Path) -> str:
    path.write_bytes(png(shade=200))
    return "It does."
