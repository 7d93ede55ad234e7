from typing import Any

import msgspec
import pytest

from agentv.core.answer_key import answer_key, setup_key
from agentv.model.request import ChatMessage, PlacedMedia, ProviderRequest

REQUEST = ProviderRequest(eval_id="one", question="Why?")
SETTINGS = {"name": "default", "model": "m-1", "temperature": 0.0, "api_key": "sk-1"}
FILES = [("a.md", "digest")]


def setup(**changes: Any) -> str:
    return setup_key("openai", {**SETTINGS, **changes}, ".")


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "m-2"},
        {"temperature": 0.1},
        {"base_url": "http://localhost"},
        {"headers": {"x-team": "a"}},
        {"a_setting_of_a_plugin": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_setting_that_shapes_the_answer_makes_another_key(changes: dict[str, Any]) -> None:
    assert setup(**changes) != setup()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"api_key": "sk-2"},
        {"workers": 9},
        {"timeout_seconds": 1.0},
        {"retry": {"max_retries": 9}},
        {"rpm": 10},
        {"price_per_million_input": 1.0},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_setting_that_does_not_makes_none(changes: dict[str, Any]) -> None:
    assert setup(**changes) == setup()


def test_the_provider_and_the_folder_count() -> None:
    """Two projects may each have a `./run.sh`."""
    keys = {setup_key(kind, {}, folder) for kind in ("cli", "mock") for folder in (".", "sub")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"eval_id": "two"},
        {"trial": 2},
        {"question": "Why not?"},
        {"guidelines": "Be brief."},
        {"system_prompt": "Judge."},
        {"response_schema": {"type": "object"}},
        {"chat_prompt": (ChatMessage(role="user", content="Why?"),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_is_asked_counts(changes: dict[str, Any]) -> None:
    other = msgspec.structs.replace(REQUEST, **changes)
    assert answer_key(setup(), other, FILES) != answer_key(setup(), REQUEST, FILES)


def test_images_count_by_content_and_place_and_not_by_where_they_lie() -> None:
    def shown(**changes: Any) -> ProviderRequest:
        known: dict[str, Any] = {"path": "a.png", "resolved_path": "/r/a.png", "at": 17, "size": 9}
        file = PlacedMedia(**{**known, "media_type": "image/png", "sha256": "0f", **changes})
        chat = (ChatMessage(role="user", content="<Attached: a.png>", media=(file,)),)
        return msgspec.structs.replace(REQUEST, chat_prompt=chat, media=(file,))

    def key(request: ProviderRequest) -> str:
        return answer_key(setup(), request, FILES)

    assert key(shown(resolved_path="/elsewhere/a.png")) == key(shown())
    others = [shown(sha256="f0"), shown(at=3), msgspec.structs.replace(shown(), media=())]
    assert len({key(shown()), *map(key, others)}) == 4


def test_another_attempt_asks_the_same() -> None:
    again = msgspec.structs.replace(REQUEST, attempt=2)
    assert answer_key(setup(), again, FILES) == answer_key(setup(), REQUEST, FILES)


def test_contents_of_files_count_and_not_where_they_lie() -> None:
    moved = msgspec.structs.replace(REQUEST, input_files=("/elsewhere/a.md",))
    assert answer_key(setup(), moved, FILES) == answer_key(setup(), REQUEST, FILES)
    assert answer_key(setup(), REQUEST, [("a.md", "new")]) != answer_key(setup(), REQUEST, FILES)


def test_a_secret_cannot_be_read_from_a_key() -> None:
    key = answer_key(setup(headers={"authorization": "hunter2hunter2"}), REQUEST, FILES)
    assert len(key) == 32
    assert set(key) <= set("0123456789abcdef")
