"""A target's API key: where it comes from, and whether its service has taken it."""

from agentv.core.redaction import Redactor
from agentv.errors import ProviderError
from agentv.protocols import ProviderBuild
from agentv.providers.apis.options import ApiOptions

_LONGEST_WORDS = 1000


class TargetKey:
    """Keeps a key out of messages, and keeps us from sending one that was refused to the end.

    A key that was taken once is not given up: what is refused then may be a single question, or a
    hiccup of a proxy.
    """

    def __init__(self, options: ApiOptions, build: ProviderBuild) -> None:
        self._options = options
        self._written = build.written
        self._source = build.source
        self._redactor = Redactor({"api_key": options.key or ""})
        self._was_taken = False
        self._refusal: ProviderError | None = None

    def check(self) -> None:
        """Called before each request.

        Raises:
            ProviderError: The service has refused the key: the request would fare no better.
        """
        if self._refusal is not None:
            said = f"not sent, since the key was refused before: {self._refusal}"
            raise ProviderError(said, kind=self._refusal.kind)

    def taken(self) -> None:
        """The service has answered a request."""
        self._was_taken = True

    def refused(self, refusal: ProviderError) -> None:
        """The service has said that the key is wrong."""
        if not self._was_taken:
            self._refusal = refusal

    def out_of(self, words: str) -> str:
        """What a service said, in one line, not too long, and without the key.

        Some repeat a key that they do not know: it goes first, so that no part of it is left where
        the line is cut.
        """
        line = " ".join(self._redactor.text(words).split())
        return line if len(line) <= _LONGEST_WORDS else f"{line[:_LONGEST_WORDS]}…"

    @property
    def holder(self) -> str:
        """`target 'gpt' (api_key from ${{ OPENAI_API_KEY }} in targets.yaml)`."""
        name = f"target '{self._options.name}'"
        if not self._source:
            return name
        written = str(self._written.get("api_key") or "")
        if "${{" in written:
            origin = f"api_key from {written}"
        elif written:
            origin = "its api_key"
        else:
            origin = "its headers" if "authorization" in self._options.own_headers else "no api_key"
        return f"{name} ({origin} in {self._source})"
