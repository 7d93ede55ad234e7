"""A vendor's list of batches, page by page, the newest first."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from agentv.providers.apis.batch_api import BatchClient
from agentv.providers.apis.wire import Json

PAGE_SIZE = 100
_MOST_PAGES = 20


async def listed(client: BatchClient, url: str, cursor: str) -> AsyncIterator[Json]:
    """Each batch of a list as OpenAI and Anthropic write it.

    Args:
        client: To ask with.
        url: Where the list is.
        cursor: The parameter that says after which batch a page begins.
    """
    parameters: dict[str, Any] = {"limit": PAGE_SIZE}
    for _ in range(_MOST_PAGES):
        page = await client.get(with_query(url, parameters), patient=False)
        data = page.get("data")
        batches = [each for each in data or [] if isinstance(each, dict) and "id" in each]
        for batch in batches:
            yield batch
        if not batches or page.get("has_more") is not True:
            return
        parameters[cursor] = page.get("last_id") or batches[-1]["id"]


async def listed_operations(client: BatchClient, url: str) -> AsyncIterator[Json]:
    """Each batch of a list as Gemini writes it: without a page size it is empty."""
    parameters: dict[str, Any] = {"pageSize": PAGE_SIZE}
    for _ in range(_MOST_PAGES):
        page = await client.get(with_query(url, parameters), patient=False)
        for operation in page.get("operations") or []:
            if isinstance(operation, dict) and "name" in operation:
                yield operation
        if not page.get("nextPageToken"):
            return
        parameters["pageToken"] = page["nextPageToken"]


def moment(said: Any) -> datetime | None:
    """A time in seconds since the epoch or in RFC 3339; `None` if it is neither."""
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(said, int | float):
            return datetime.fromtimestamp(said, UTC)
        if isinstance(said, str):
            read = datetime.fromisoformat(said)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
    return None


def with_query(url: str, parameters: Json) -> str:
    """The URL with these beside the parameters that it has."""
    parts = urlsplit(url)
    query = "&".join(text for text in (parts.query, urlencode(parameters)) if text)
    return urlunsplit(parts._replace(query=query))
