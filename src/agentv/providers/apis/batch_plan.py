"""What goes into a batch, and what its replies mean for the requests."""

from collections.abc import Iterable, Mapping, Sequence

from agentv.core.digest import digest
from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.providers.apis.batch_api import BatchItem, ItemReply
from agentv.providers.apis.costs import read_priced
from agentv.providers.apis.media import without_bytes
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.shape import merged
from agentv.providers.apis.wire import Adjustable, Call, Wire

_WORTH_ANOTHER_TRY = frozenset({408, 409, 429})

Outcome = ProviderResponse | ProviderError | None
"""`None` for a request that is to be sent singly."""


class BatchPlan:
    """Which request is which item of a batch; those that the API cannot take are in none.

    Args:
        wire: Writes the requests and reads the answers.
        options: Of the target that is asked.
        requests: All of them.
    """

    def __init__(
        self, wire: Wire, options: ApiOptions, requests: Sequence[ProviderRequest]
    ) -> None:
        self._wire = wire
        self._options = options
        self._requests = requests
        self._unwritten: dict[int, ProviderError] = {}
        self._digests: dict[int, str] = {}
        self.items: list[BatchItem] = []
        self.url = ""
        self.headers: dict[str, str] = {}
        for number, request in enumerate(requests):
            try:
                call: Call = wire.call(request)
            except ProviderError as error:
                self._unwritten[number] = error
                continue
            body = merged(call.body, options.extra_body)
            self.items.append(BatchItem(custom_id=_custom_id(number), body=body))
            self.url, self.headers = call.url, dict(call.headers)
            plain = without_bytes(body) if request.media else body
            self._digests[number] = digest(request.suite, request.eval_id, request.trial, plain)
        self.custom_ids = {key: _custom_id(number) for number, key in self._digests.items()}
        """By digest; a request has the same one in a run that is started again."""
        self.target = digest(options.name, self.url)
        """To whom they go: no other target may have the answers."""
        self.label = digest(self.target, list(self.custom_ids))

    def outcomes(
        self, replies: Iterable[ItemReply], custom_ids: Mapping[str, str]
    ) -> list[Outcome]:
        """One for each request, in the requests' order.

        Args:
            replies: Of this batch, or of an earlier one with more requests in it.
            custom_ids: By the requests' digests, in that batch.
        """
        found = {reply.custom_id: reply for reply in replies}
        outcomes: list[Outcome] = []
        for number, request in enumerate(self._requests):
            if number in self._unwritten:
                outcomes.append(self._unwritten[number])
            else:
                reply = found.get(custom_ids[self._digests[number]])
                outcomes.append(self._outcome(request, reply))
        return outcomes

    def _outcome(self, request: ProviderRequest, reply: ItemReply | None) -> Outcome:
        if reply is None or reply.status is None or _may_be_mended(reply.status):
            return None
        if 200 <= reply.status <= 299:
            try:
                return read_priced(self._wire, self._options, reply.body, in_batch=True)
            except ProviderError as error:
                return error
        said = self._wire.read_error(reply.body)
        if said and isinstance(self._wire, Adjustable) and self._wire.adjusted(request, said):
            return None  # sent singly it can do without the setting that was refused
        mark = f" [{said.code}]" if said and said.code else ""
        words = f": {said.message}" if said else ""
        return ProviderError(
            f"refused in a batch with {reply.status}{mark}{words}",
            kind=(said.kind if said else None) or f"http_{reply.status}",
        )


def _may_be_mended(status: int) -> bool:
    return status >= 500 or status in _WORTH_ANOTHER_TRY


def _custom_id(number: int) -> str:
    return f"case-{number:06d}"
