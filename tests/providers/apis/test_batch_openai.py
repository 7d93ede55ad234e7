"""Where OpenAI's and Azure's batch endpoints are, and what is uploaded there."""

import asyncio
from datetime import UTC, datetime
from email import message_from_bytes
from typing import Any

import msgspec
import pytest
from scripted_batches import ScriptedBatches

from agentv.errors import ProviderError
from agentv.providers.apis.batch_api import Asked, BatchItem
from agentv.providers.apis.batch_openai import OpenAiBatches, upload_form

ITEM = BatchItem(custom_id="k-000000", body=b'{"messages":[]}')
ASKED = Asked(key="k", at=datetime(2026, 3, 1, tzinfo=UTC), size=1, file="made")


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
    service = ScriptedBatches({"id": "made"})
    batches = OpenAiBatches(url)
    assert asyncio.run(batches.upload([ITEM], "k", service)) == "made"
    assert asyncio.run(batches.create([ITEM], ASKED, service)) == "made"
    assert service.urls == [f"{base}/files{query}", f"{base}/batches{query}"]
    assert msgspec.json.decode(service.bodies[1])["endpoint"] == endpoint


def test_another_endpoint_takes_no_batches() -> None:
    with pytest.raises(ProviderError, match="/v1/ask takes no batches"):
        OpenAiBatches("https://h/v1/ask")


def test_an_upload_is_a_form_with_a_purpose_and_a_file() -> None:
    content = '{"a": "é"}\n\r\n--boundary\n'.encode()
    form, content_type = upload_form("x.jsonl", [content[:3], content[3:]])
    read = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + form)
    _, purpose, file = read.walk()
    assert purpose.get_param("name", header="content-disposition") == "purpose"
    assert purpose.get_payload(decode=True) == b"batch"
    assert file.get_param("name", header="content-disposition") == "file"
    assert file.get_filename() == "x.jsonl"
    assert file.get_payload(decode=True) == content


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        pytest.param({"metadata": {"agentv": "k"}}, ["b1"], id="by-key"),
        pytest.param({"metadata": None, "input_file_id": "made"}, ["b1"], id="by-file"),
        pytest.param({"metadata": {"agentv": "j"}, "input_file_id": "other"}, [], id="another"),
        pytest.param({}, [], id="nothing-said"),
    ],
)
def test_a_batch_is_found_by_its_key_or_its_file(listed: dict[str, Any], found: list[str]) -> None:
    """Azure does not say in every version what metadata a batch has."""
    service = ScriptedBatches({"data": [{"id": "b0"}, {"id": "b1", **listed}]})
    batches = OpenAiBatches("https://h/v1/chat/completions")
    said = asyncio.run(batches.find(ASKED, service))
    assert [each.batch_id for each in said if each.is_sure] == found
    assert service.urls == ["https://h/v1/batches?limit=100"]


def test_a_file_that_is_refused_says_why() -> None:
    service = ScriptedBatches({"id": "f", "status": "error", "status_details": "line 3 is no JSON"})
    with pytest.raises(ProviderError, match="refused: line 3 is no JSON"):
        asyncio.run(OpenAiBatches("https://h/v1/responses").upload([ITEM], "k", service))
