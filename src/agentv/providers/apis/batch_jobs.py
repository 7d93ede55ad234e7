"""Several jobs at once: what interrupted runs left behind, and what is asked anew."""

import asyncio
from collections.abc import Sequence

from agentv.errors import ProviderError
from agentv.providers.apis.batch_job import BatchJob
from agentv.providers.apis.batch_plan import Outcome
from agentv.providers.apis.batch_telling import Teller


async def answers_of(jobs: Sequence[BatchJob], tell: Teller) -> dict[str, Outcome]:
    """What came of each request, by its digest; those without an answer are missing.

    A job without any batch costs the others nothing: its requests are left to be sent singly.

    Raises:
        ProviderError, OSError: No job has a batch.
        RunAborted: Answers cannot be had now.
    """
    found: dict[str, Outcome] = {}
    refusals: list[tuple[BatchJob, Exception]] = []

    async def ask(job: BatchJob) -> None:
        try:
            found.update(await job.answers())
        except (ProviderError, OSError) as error:
            refusals.append((job, error))

    begun = []
    for job in jobs:  # all are noted down before anything is waited for
        try:
            job.begin()
            begun.append(job)
        except OSError as error:
            refusals.append((job, error))
    try:
        async with asyncio.TaskGroup() as group:
            for job in begun:
                group.create_task(ask(job))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if len(refusals) == len(jobs):
        raise refusals[0][1]
    for job, refusal in refusals:
        tell.warning(f"no batch of {job.size} requests ({refusal}): they are sent singly")
    return found
