"""Where OpenAI's and Azure's batch endpoints are, and what is uploaded there."""

import asyncio
from collections.abc import Sequence
from email import message_from_bytes

import pytest

from agentv.errors import ProviderError
from agentv.providers.apis.batch_api import BatchItem
from agentv.providers.apis.batch_openai import OpenAiBatches, upload_form
from agentv.providers.apis.wire import Json


class Posts:
    """Notes what is posted; everything is made with the id `made`."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.bodies: list[Json | bytes] = []

    async def post(self, url: str, body: Json | bytes, content_type: str | None = None) -> Json:
        self.urls.append(url)
        self.bodies.append(body)
        return {"id": "made"}

    async def get(self, url: str) -> Json:
        raise AssertionError

    async def lines(self, url: str) -> Sequence[Json]:
        raise AssertionError


@pytest.mark.parametrize(
    ("url", "base", "query", "endpoint"),
    [
        ("https://h/v1/chat/completions", "https://h/v1", "", "/v1/chat/completions"),
        ("https://h/v1/responses", "https://h/v1", "", "/v1/responses"),
        ("https://h/api/v1/chat/completions", "https://h/api/v1", "", "/v1/chat/completions"),
        (
            "https://r/openai/deployments/gpt%2Dx/chat/completions?api-version=7",
            "https://r/openai",
            "?api-version=7",
            "/chat/completions",
        ),
        (
            "https://r/openai/responses?api-version=7",
            "https://r/openai",
            "?api-version=7",
            "/responses",
        ),
        ("https://r/openai/v1/responses", "https://r/openai/v1", "", "/v1/responses"),
    ],
)
def test_the_endpoints_are_beside_the_one_for_single_requests(
    url: str, base: str, query: str, endpoint: str
) -> None:
    posts = Posts()
    items = [BatchItem(custom_id="case-000000", body={"messages": []})]
    assert asyncio.run(OpenAiBatches(url).create(items, "label", posts)) == "made"
    assert posts.urls == [f"{base}/files{query}", f"{base}/batches{query}"]
    made = posts.bodies[1]
    assert isinstance(made, dict)
    assert made["endpoint"] == endpoint


def test_another_endpoint_takes_no_batches() -> None:
    with pytest.raises(ProviderError, match="/v1/ask takes no batches"):
        OpenAiBatches("https://h/v1/ask")


def test_an_upload_is_a_form_with_a_purpose_and_a_file() -> None:
    content = '{"a": "é"}\n\r\n--boundary\n'.encode()
    form, content_type = upload_form("x.jsonl", content)
    read = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + form)
    _, purpose, file = read.walk()
    assert purpose.get_param("name", header="content-disposition") == "purpose"
    assert purpose.get_payload(decode=True) == b"batch"
    assert file.get_param("name", header="content-disposition") == "file"
    assert file.get_filename() == "x.jsonl"
    assert file.get_payload(decode=True) == content
