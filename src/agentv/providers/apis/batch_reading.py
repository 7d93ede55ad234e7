"""What the results of a batch mean for its requests."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import msgspec

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.providers.apis.batch_api import ItemReply, Results
from agentv.providers.apis.batch_plan import Outcome
from agentv.providers.apis.costs import read_priced
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.wire import Json, Wire

MOST_IN_ORDER = 1000
"""Gemini promises its answers in the requests' order, and has mixed up those of larger batches."""


class Answers(Record, frozen=True, kw_only=True):
    """What came of a batch."""

    by_custom_id: Mapping[str, ItemReply]
    total: int
    failures: Counter[str]
    """Why requests have no answer, with how many."""
    oddities: Sequence[str]
    """What is not as documented, in words."""

    @property
    def answered(self) -> int:
        """Requests that have an answer."""
        return self.total - self.failures.total()

    def outcome(self, custom_id: str, wire: Wire, options: ApiOptions) -> Outcome:
        """What came of one request: an answer, a model's refusal, or `None`."""
        reply = self.by_custom_id.get(custom_id)
        if reply is None or not _is_answer(reply):
            return None
        try:
            return read_priced(wire, options, _body(reply), in_batch=True)
        except ProviderError as error:
            return error


def sort_out(results: Results, custom_ids: Collection[str]) -> Answers:
    """Match results to requests: what is unknown, there twice, or missing is counted.

    Args:
        results: Of the batch.
        custom_ids: Of all requests in the batch, in their order.
    """
    found = _Sorting()
    replies = results.replies
    if replies and all(reply.custom_id is None for reply in replies):
        replies = found.in_order(replies, custom_ids)
    known = set(custom_ids)
    for reply in replies:
        found.add(reply, known)
    failures: Counter[str] = Counter()
    for custom_id in custom_ids:
        own = found.by_custom_id.get(custom_id)
        if own is None:
            failures["no result"] += 1
        elif not _is_answer(own):
            failures[own.failure or "unreadable"] += 1
    return Answers(
        by_custom_id=found.by_custom_id,
        total=len(custom_ids),
        failures=failures,
        oddities=found.oddities(results.unreadable, failures["no result"]),
    )


class _Sorting(msgspec.Struct):
    by_custom_id: dict[str, ItemReply] = {}
    unknown: int = 0
    repeated: int = 0
    notes: list[str] = []

    def in_order(
        self, replies: Sequence[ItemReply], custom_ids: Collection[str]
    ) -> Sequence[ItemReply]:
        """Replies without ids are those of the requests in their order, if that can be."""
        if len(replies) != len(custom_ids) or len(replies) > MOST_IN_ORDER:
            self.notes.append(f"{len(replies)} results do not say whose they are")
            return ()
        self.notes.append("the results do not say whose they are: they are taken in order")
        return [
            msgspec.structs.replace(reply, custom_id=custom_id)
            for reply, custom_id in zip(replies, custom_ids, strict=True)
        ]

    def add(self, reply: ItemReply, known: Collection[str]) -> None:
        """The first answer to a request counts, or the first failure if there is none."""
        custom_id = reply.custom_id
        if custom_id is None or custom_id not in known:
            self.unknown += 1
            return
        earlier = self.by_custom_id.get(custom_id)
        self.repeated += earlier is not None
        if earlier is None or (_is_answer(reply) and not _is_answer(earlier)):
            self.by_custom_id[custom_id] = reply

    def oddities(self, unreadable: int, missing: int) -> list[str]:
        counted = (
            (unreadable, "results cannot be read"),
            (self.unknown, "results are of requests that are not in it"),
            (self.repeated, "results came for requests that had one: the first answer counts"),
            (missing, "requests have no result"),
        )
        return [*self.notes, *(f"{number} {what}" for number, what in counted if number)]


def _is_answer(reply: ItemReply) -> bool:
    """Whether there is a JSON object to be read."""
    answer = reply.answer
    return isinstance(answer, dict) or (
        answer is not None and bytes(memoryview(answer)[:1]) == b"{"
    )


def _body(reply: ItemReply) -> Json:
    answer = reply.answer
    return answer if isinstance(answer, dict) else msgspec.json.decode(answer or b"{}", type=Json)
