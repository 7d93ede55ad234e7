"""A provider, or several, before a stand-in for VS Code."""

import os
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from agentv.model.http import HttpReply, HttpRequest
from agentv.model.request import ProviderRequest
from agentv.protocols import ProcessRunner, ProviderBuild
from agentv.providers.vscode.editor import Timing
from agentv.providers.vscode.options import VsCodeOptions
from agentv.providers.vscode.provider import VsCodeProvider
from agentv.providers.vscode.worker import Worker, missing_workers
from agentv.transport.traffic import Traffic

QUICK = Timing(focus=0)


class NoHttp:
    """A sender for a provider that must not need one."""

    async def send(self, request: HttpRequest) -> HttpReply:
        raise AssertionError("nothing may be sent here")


def options(**more: Any) -> VsCodeOptions:
    return msgspec.convert({"name": "editor", "provider": "vscode", **more}, VsCodeOptions)


def provider(
    folder: Path, processes: ProcessRunner, *, warned: list[str] | None = None, **more: Any
) -> VsCodeProvider:
    """A provider whose `code` is in `folder` and whose workers are in `folder/workers`."""
    told: list[str] = [] if warned is None else warned
    build = ProviderBuild(
        folder=folder,
        env={**os.environ, "PATH": f"{folder}:/usr/bin:/bin"},
        processes=processes,
        http=NoHttp(),
        traffic=Traffic(),
        rng=Random(0),
        notify=told.append,
        warn=told.append,
    )
    given = options(**{"subagent_root": "workers", **more})
    return VsCodeProvider(given, build, timing=QUICK, settle=0.02)


def provisioned(folder: Path, number: int) -> list[Worker]:
    """So many workers in `folder/workers`."""
    workers = missing_workers(folder / "workers", number)
    for worker in workers:
        worker.set_up()
    return workers


def request(question: str = "hello", eval_id: str = "case-1", **more: Any) -> ProviderRequest:
    return ProviderRequest(eval_id=eval_id, question=question, **more)
