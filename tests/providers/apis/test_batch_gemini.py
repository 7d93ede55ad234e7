"""Where Gemini's answers are, and what is sent."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from scripted_batches import ScriptedBatches

from agentv.providers.apis.batch_api import Asked, BatchFailed, BatchItem, ItemReply
from agentv.providers.apis.batch_gemini import GeminiBatches
from agentv.providers.apis.wire import Json

URL = "https://g/v1beta/models/gemini-2.5-flash:generateContent"
ASKED = Asked(key="k", at=datetime(2026, 3, 1, tzinfo=UTC), size=1)
ANSWER: Json = {"candidates": []}
OUTPUT = {
    "inlinedResponses": {
        "inlinedResponses": [{"metadata": {"key": "k-000000"}, "response": ANSWER}]
    }
}


def replies(service: ScriptedBatches) -> list[ItemReply]:
    async def fetched() -> list[ItemReply]:
        batches = GeminiBatches(URL)
        status = await batches.status("batches/b", service)
        assert status.ended
        return list((await batches.results(status, service)).replies)

    return asyncio.run(fetched())


def operation(**keys: Any) -> Json:
    return {"name": "batches/b", **keys}


@pytest.mark.parametrize(
    "reply",
    [
        {"done": True, "response": OUTPUT},
        {"done": True, "response": {"output": OUTPUT}},
        {"metadata": {"state": "BATCH_STATE_SUCCEEDED", "output": OUTPUT}},
        {"metadata": {"state": "JOB_STATE_SUCCEEDED"}, "response": OUTPUT},
    ],
    ids=["response", "response-output", "metadata-output", "job-state"],
)
def test_answers_are_found_wherever_they_are_documented(reply: Json) -> None:
    assert replies(ScriptedBatches(operation(**reply))) == [
        ItemReply(custom_id="k-000000", answer=ANSWER)
    ]


def test_answers_may_be_in_a_file() -> None:
    lines = [{"key": "k-000000", "response": ANSWER}, {"key": "k-000001", "error": {"code": 13}}]
    service = ScriptedBatches(operation(done=True, response={"responsesFile": "files/f"}), lines)
    assert replies(service) == [
        ItemReply(custom_id="k-000000", answer=ANSWER),
        ItemReply(custom_id="k-000001", failure="error 13"),
    ]
    assert service.urls[-1] == "https://g/download/v1beta/files/f:download?alt=media"


def test_a_batch_that_expired_answered_nothing() -> None:
    assert replies(ScriptedBatches(operation(metadata={"state": "BATCH_STATE_EXPIRED"}))) == []


def test_a_failed_batch_keeps_the_answers_that_it_has() -> None:
    said = operation(metadata={"state": "BATCH_STATE_FAILED", "output": OUTPUT})
    assert len(replies(ScriptedBatches(said))) == 1


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"code": 3, "message": "no"}, "error 3"),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED"}, "RESOURCE_EXHAUSTED"),
        ({}, "error without a code"),
    ],
)
def test_an_error_is_said_in_a_word(error: Json, failure: str) -> None:
    inlined = {"metadata": {"key": "k"}, "error": error}
    output = {"inlinedResponses": {"inlinedResponses": [inlined]}}
    [reply] = replies(ScriptedBatches(operation(done=True, response=output)))
    assert reply == ItemReply(custom_id="k", failure=failure)


def test_a_failed_batch_says_why() -> None:
    error = {"code": 8, "message": "no quota"}
    with pytest.raises(BatchFailed, match="quota"):
        replies(ScriptedBatches(operation(done=True, error=error)))


def test_requests_are_inline_with_their_keys() -> None:
    service = ScriptedBatches(operation())
    items = [BatchItem(custom_id="k-000000", body=b'{"contents":[]}')]
    assert asyncio.run(GeminiBatches(URL).create(items, ASKED, service)) == "batches/b"
    assert service.urls == ["https://g/v1beta/models/gemini-2.5-flash:batchGenerateContent"]
    requests = [{"request": {"contents": []}, "metadata": {"key": "k-000000"}}]
    assert msgspec.json.decode(service.bodies[0]) == {
        "batch": {
            "displayName": "agentv-k",
            "inputConfig": {"requests": {"requests": requests}},
        }
    }


def test_a_batch_is_found_by_its_name() -> None:
    """A list that is asked for without a page size is empty."""
    names = {"batches/a": "agentv-j", "batches/b": "agentv-k"}
    listed = [{"name": id_, "metadata": {"displayName": name}} for id_, name in names.items()]
    service = ScriptedBatches({"operations": listed})
    [found] = asyncio.run(GeminiBatches(URL).find(ASKED, service))
    assert (found.batch_id, found.is_sure) == ("batches/b", True)
    assert service.urls == ["https://g/v1beta/batches?pageSize=100"]
