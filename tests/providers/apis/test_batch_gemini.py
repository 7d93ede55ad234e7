"""Where Gemini's batches hold their answers, and what their errors mean."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agentv.errors import ProviderError
from agentv.providers.apis.batch_api import BatchFailed, BatchItem, ItemReply
from agentv.providers.apis.batch_gemini import LARGEST_INLINE, GeminiBatches
from agentv.providers.apis.wire import Json

URL = "https://g/v1beta/models/gemini-2.5-flash:generateContent"
ANSWER: Json = {"candidates": []}
OUTPUT = {
    "inlinedResponses": {
        "inlinedResponses": [{"metadata": {"key": "case-000000"}, "response": ANSWER}]
    }
}


class Says:
    """Gives one reply to everything."""

    def __init__(self, **reply: Any) -> None:
        self._reply = {"name": "batches/b", **reply}
        self.posted: list[tuple[str, Json | bytes]] = []

    async def post(self, url: str, body: Json | bytes, content_type: str | None = None) -> Json:
        self.posted.append((url, body))
        return self._reply

    async def get(self, url: str) -> Json:
        assert url == "https://g/v1beta/batches/b"
        return self._reply

    async def lines(self, url: str) -> Sequence[Json]:
        raise AssertionError


def replies(service: Says) -> list[ItemReply]:
    async def fetched() -> list[ItemReply]:
        batches = GeminiBatches(URL)
        status = await batches.status("batches/b", service)
        assert status.ended
        return list(await batches.results(status, service))

    return asyncio.run(fetched())


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
    assert replies(Says(**reply)) == [ItemReply(custom_id="case-000000", status=200, body=ANSWER)]


def test_a_batch_that_expired_answered_nothing() -> None:
    assert replies(Says(metadata={"state": "BATCH_STATE_EXPIRED"})) == []


@pytest.mark.parametrize(
    ("code", "status"), [(3, 400), (7, 403), (8, 429), (13, 500), (400, 400), (99, 500)]
)
def test_an_error_has_the_status_of_a_single_refusal(code: int, status: int) -> None:
    error = {"code": code, "message": "no"}
    inlined = {"metadata": {"key": "k"}, "error": error}
    output = {"inlinedResponses": {"inlinedResponses": [inlined]}}
    [reply] = replies(Says(done=True, response=output))
    assert reply == ItemReply(custom_id="k", status=status, body={"error": error})


def test_a_failed_batch_says_why() -> None:
    with pytest.raises(BatchFailed, match="quota"):
        replies(Says(done=True, error={"code": 8, "message": "no quota"}))


def test_requests_are_inline_with_their_keys() -> None:
    service = Says()
    items = [BatchItem(custom_id="case-000000", body={"contents": []})]
    assert asyncio.run(GeminiBatches(URL).create(items, "label", service)) == "batches/b"
    assert service.posted == [
        (
            "https://g/v1beta/models/gemini-2.5-flash:batchGenerateContent",
            {
                "batch": {
                    "displayName": "agentv-label",
                    "inputConfig": {
                        "requests": {
                            "requests": [
                                {"request": {"contents": []}, "metadata": {"key": "case-000000"}}
                            ]
                        }
                    },
                }
            },
        )
    ]


def test_too_much_for_one_body_is_no_batch() -> None:
    items = [BatchItem(custom_id="case-000000", body={"contents": "x" * LARGEST_INLINE})]
    with pytest.raises(ProviderError, match="more than 20 MB"):
        asyncio.run(GeminiBatches(URL).create(items, "label", Says()))
