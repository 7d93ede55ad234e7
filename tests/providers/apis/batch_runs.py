"""Runs over batches without the runner: a provider asked once, in a folder of its own."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from batch_vendor import KEY, BatchVendor
from scripted_http import ScriptedService

from agentv.cli.progress import batch_line
from agentv.model.event import BatchWaiting, Event, Notice
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.providers.apis.batch import BatchingApi
from agentv.providers.apis.batch_api import BatchApi
from agentv.providers.apis.batch_plan import Outcome
from agentv.providers.apis.openai import OpenAiOptions, openai_wire
from agentv.registry import Registry
from agentv.transport.http import Http

FATES = {"case 03": 400, "case 07": 500, "case 11": None, "case 29": 429}
APIS = ["openai", "responses", "azure", "anthropic", "gemini"]


def settings(api: str, url: str) -> dict[str, Any]:
    """The target's own keys for each API."""
    return {
        "openai": {"provider": "openai", "model": "gpt-5", "base_url": f"{url}/v1"},
        "responses": {
            "provider": "openai",
            "model": "gpt-5",
            "base_url": f"{url}/v1",
            "api": "responses",
        },
        "azure": {"provider": "azure", "deployment_name": "gpt-x", "endpoint": url},
        "anthropic": {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": url},
        "gemini": {"provider": "gemini", "base_url": url},
    }[api]


def questions(number: int = 30) -> list[ProviderRequest]:
    return [
        ProviderRequest(eval_id=f"c{n}", suite="s", question=f"What of case {n:02}?")
        for n in range(number)
    ]


class Runs:
    """One run after another in the same folder, each with an own provider."""

    def __init__(
        self,
        vendor: BatchVendor,
        folder: Path,
        api: str = "anthropic",
        batches: Callable[[str], BatchApi] | None = None,
    ) -> None:
        self.vendor = vendor
        self.said: list[str] = []
        """All that people see, in order."""
        self.warnings: list[str] = []
        self._folder = folder
        self._api = api
        self._batches = batches

    def once(self, requests: Sequence[ProviderRequest], **keys: Any) -> list[Outcome]:
        """A run that ends well."""
        return asyncio.run(self.run(requests, settles=True, **keys))

    def cut_short(self, requests: Sequence[ProviderRequest], **keys: Any) -> list[Outcome]:
        """A run that ends before its rows are written."""
        return asyncio.run(self.run(requests, settles=False, **keys))

    async def run(
        self, requests: Sequence[ProviderRequest], *, settles: bool, **keys: Any
    ) -> list[Outcome]:
        data = {
            "name": "t",
            "api_key": KEY,
            "provider_batching": True,
            "batch_poll_seconds": 0.002,
            "retry": {"initial_delay_ms": 1, "max_delay_ms": 2},
            **settings(self._api, self.vendor.url),
            **keys,
        }
        registry = Registry()
        entry = registry.find("providers", data["provider"])
        assert entry is not None
        options = msgspec.convert(data, registry.provider_options(entry))
        async with Http() as http:
            build = msgspec.structs.replace(
                ScriptedService([]).build(), http=http, folder=self._folder, emit=self._hear
            )
            provider = registry.build_provider(options, build)
            if self._batches:
                assert isinstance(options, OpenAiOptions)
                provider = BatchingApi(openai_wire(options), options, build, self._batches)
            assert isinstance(provider, BatchingApi)
            try:
                outcomes = list(await provider.respond_batch(requests))
                if settles:
                    provider.settle(requests)
                return outcomes
            finally:
                await provider.aclose()

    @property
    def batches(self) -> Path:
        return self._folder / ".agentv" / "batches"

    @property
    def ledger(self) -> list[str]:
        return sorted(path.name for path in self.batches.iterdir()) if self.batches.exists() else []

    def edit_ledger(self, **keys: Any) -> None:
        """Change what is noted of the one batch of an interrupted run."""
        [path] = self.batches.glob("*.json")
        entry = msgspec.json.decode(path.read_bytes())
        entry["parts"][0].update(keys)
        path.write_bytes(msgspec.json.encode(entry))

    def _hear(self, event: Event) -> None:
        if isinstance(event, BatchWaiting):
            self.said.append(batch_line(event, event.next_look_seconds))
        elif isinstance(event, Notice) and event.level != "verbose":
            self.said.append(event.message)
            if event.level == "warning":
                self.warnings.append(event.message)


def words(outcome: Outcome) -> str | None:
    if isinstance(outcome, ProviderResponse):
        return outcome.text
    return f"{outcome.kind}: {outcome}" if outcome else None
