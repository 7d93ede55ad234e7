"""What goes into which batch."""

import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Self

import msgspec

from agentv.core.digest import digest
from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import new_token
from agentv.providers.apis.batch_api import BatchApi, BatchItem
from agentv.providers.apis.batch_entry import BatchPart
from agentv.providers.apis.media import encode_body, without_bytes
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.shape import merged
from agentv.providers.apis.wire import Call, Json, Wire

_AROUND = 256
"""Bytes that a vendor wants around a request, custom id included."""
_LONGEST_ID = 64
_KEY_DIGITS = 12
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")

Outcome = ProviderResponse | ProviderError | None
"""`None` for a request that is to be sent singly."""


class _Items:
    """What can be gone through again."""

    def __init__(self, begin: Callable[[], Iterator[BatchItem]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[BatchItem]:
        return self._begin()


class BatchPlan:
    """Which request goes into which batch; those that no batch can take go into none.

    What is sent is written once to measure it and again when it is sent: it may be hundreds of
    megabytes, and is needed no longer than an upload takes.

    Args:
        wire: Writes the requests.
        options: Of the target that is asked.
        requests: All of them.
        batches: From the URL of single requests to the batch endpoints beside it.

    Raises:
        ProviderError: There are no batch endpoints beside it.
    """

    def __init__(
        self,
        wire: Wire,
        options: ApiOptions,
        requests: Sequence[ProviderRequest],
        batches: Callable[[str], BatchApi],
        token: Callable[[str], str] = new_token,
    ) -> None:
        self._token = token
        self._wire = wire
        self._options = options
        self._requests = requests
        self._unwritten: dict[int, ProviderError] = {}
        self._numbers: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._api: BatchApi | None = None
        self.headers: Mapping[str, str] = {}
        self.url = ""
        self.too_large = 0
        """Requests that no batch can take because of their size."""
        for number, request in enumerate(requests):
            self._draft(number, request, batches)
        self.target = digest(options.name, self.url)
        """To whom they go: no other target may have the answers."""

    @property
    def digests(self) -> list[str]:
        """Of the requests that go into batches; the same in a run that is started again."""
        return list(self._numbers)

    @property
    def api(self) -> BatchApi:
        """The endpoints for these batches."""
        if self._api is None:
            raise ProviderError("there is nothing to make a batch of", kind="batch")
        return self._api

    def parts(self) -> list[BatchPart]:
        """As few batches as the vendor's limits allow, in the requests' order."""
        limits = self.api.limits
        parts: list[list[str]] = []
        room = 0
        for key, size in self._sizes.items():
            if not parts or len(parts[-1]) == limits.requests or size > room:
                parts.append([])
                room = limits.size
            parts[-1].append(key)
            room -= size
        return [self._part(keys) for keys in parts]

    def items(self, part: BatchPart) -> Iterable[BatchItem]:
        """The requests of a batch, written anew each time they are gone through."""
        return _Items(partial(self._items, part))

    def among(self, digests: Collection[str]) -> Self:
        """The same of some of the requests."""
        some = copy.copy(self)
        some._numbers = {key: number for key, number in self._numbers.items() if key in digests}
        some._sizes = {key: size for key, size in self._sizes.items() if key in digests}
        return some

    def left_of(self, part: BatchPart) -> BatchPart:
        """The part without requests that are not in this plan: a cache had their answers."""
        left = {key: id_ for key, id_ in part.requests.items() if key in self._numbers}
        return msgspec.structs.replace(part, requests=left)

    def outcomes(self, answered: Mapping[str, Outcome]) -> list[Outcome]:
        """One for each request, in the requests' order.

        Args:
            answered: By the requests' digests.
        """
        found: dict[int, Outcome] = {self._numbers[key]: answered.get(key) for key in self._numbers}
        found.update(self._unwritten)
        return [found.get(number) for number in range(len(self._requests))]

    def _draft(
        self, number: int, request: ProviderRequest, batches: Callable[[str], BatchApi]
    ) -> None:
        try:
            call = self._wire.call(request)
        except ProviderError as error:
            self._unwritten[number] = error
            return
        if self._api is None:
            self._api = batches(call.url)
            self.url, self.headers = call.url, dict(call.headers)
        try:
            body, written = self._written(call)
        except ProviderError as error:  # a file of the request is not what it was
            self._unwritten[number] = error
            return
        size = len(written) + _AROUND
        if size > self._api.limits.size:
            self.too_large += 1
            return
        plain = without_bytes(body) if request.media else body
        # Without the suite: it may be moved before the batch is taken up.
        key = digest(request.eval_id, request.trial, plain)
        self._numbers[key] = number
        self._sizes[key] = size

    def _items(self, part: BatchPart) -> Iterator[BatchItem]:
        for key, custom_id in part.requests.items():
            _, body = self._written(self._wire.call(self._requests[self._numbers[key]]))
            yield BatchItem(custom_id=custom_id, body=body)

    def _written(self, call: Call) -> tuple[Json, bytes]:
        """What is asked, and how that is written in a batch."""
        body = merged(call.body, self._options.extra_body)
        return body, encode_body(self.api.adapted(body))

    def _part(self, keys: Sequence[str]) -> BatchPart:
        own = self._token(digest(self.target, *keys))[:_KEY_DIGITS]
        requests = {key: self._custom_id(own, self._numbers[key]) for key in keys}
        return BatchPart(key=own, requests=requests)

    def _custom_id(self, key: str, number: int) -> str:
        """Unique at the vendor, and readable for people who look there."""
        eval_id = _UNFIT.sub("-", self._requests[number].eval_id)
        return f"{key}-{number:06d}-{eval_id}"[:_LONGEST_ID]
