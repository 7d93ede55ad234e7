"""What every LLM API target may set."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from agentv.core.backoff import DEFAULT_STATUS_CODES, RetrySettings
from agentv.model.base import AuthoredRecord
from agentv.model.options import FileFinder, OptionProblem, TargetOptions

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Milliseconds = Annotated[float, Meta(ge=0)]
Dollars = Annotated[float, Meta(ge=0)]
PerMinute = Annotated[float, Meta(gt=0)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

_FLAT = {
    "max_retries": "max_retries",
    "initial_delay_ms": "retry_initial_delay_ms",
    "max_delay_ms": "retry_max_delay_ms",
    "backoff_factor": "retry_backoff_factor",
    "retryable_status_codes": "retry_status_codes",
}


class RetryBlock(AuthoredRecord, frozen=True, kw_only=True):
    """The `retry:` block; the same settings as the flat `retry_…` keys."""

    max_retries: Count | None = None
    initial_delay_ms: Milliseconds | None = None
    max_delay_ms: Milliseconds | None = None
    backoff_factor: Annotated[float, Meta(ge=1)] | None = None
    retryable_status_codes: list[Annotated[int, Meta(ge=400, le=599)]] | None = None


class ApiOptions(TargetOptions, frozen=True, kw_only=True):
    """Keys of every LLM API target."""

    retried_statuses: ClassVar[frozenset[int]] = DEFAULT_STATUS_CODES
    """Unless the author names others."""

    api_key: str | None = None
    headers: dict[str, str] = {}
    """Sent along with every request."""
    temperature: Annotated[float, Meta(ge=0)] | None = None
    max_output_tokens: Positive | None = None
    max_tokens: Positive | None = None
    """The same as `max_output_tokens`."""
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    stop: list[str] | str | None = None
    seed: int | None = None
    connect_timeout_seconds: Annotated[float, Meta(gt=0)] = 10.0
    read_timeout_seconds: Annotated[float, Meta(gt=0)] | None = None
    """Longest silence while an answer comes in."""
    rpm: PerMinute | None = None
    """Requests a minute, at most."""
    tpm: PerMinute | None = None
    """Tokens a minute, at most, by estimate."""
    price_per_million_input: Dollars | None = None
    """US dollars for a million input tokens, of a model that no price list knows."""
    price_per_million_output: Dollars | None = None
    max_retries: Count | None = None
    retry_initial_delay_ms: Milliseconds | None = None
    retry_max_delay_ms: Milliseconds | None = None
    retry_backoff_factor: Annotated[float, Meta(ge=1)] | None = None
    retry_status_codes: list[Annotated[int, Meta(ge=400, le=599)]] | None = None
    retry: RetryBlock | None = None
    max_retry_after_seconds: Annotated[float, Meta(ge=0)] = 900.0
    """A service that asks for a longer wait before a retry gets none: the trial is an error."""
    batch_poll_seconds: Annotated[float, Meta(gt=0)] = 1.0
    """How soon a batch is asked after; the pause grows to 30 s."""
    batch_timeout_seconds: Annotated[float, Meta(gt=0)] = 86_400.0
    """How long a run waits for its batch."""
    extra_body: dict[str, Any] = {}
    """Laid over the request's JSON: objects are merged, at any depth, all else is replaced."""

    @property
    def key(self) -> str | None:
        """The API key, without the line break that a file or a shell may have left at its end."""
        return (self.api_key or "").strip() or None

    @property
    def own_headers(self) -> dict[str, str]:
        """The author's headers, in lower case: one of ours must not go out a second time."""
        return {name.lower(): value for name, value in self.headers.items()}

    @property
    def output_limit(self) -> int | None:
        """Tokens an answer may have, whichever key says so."""
        return self.max_output_tokens or self.max_tokens

    @property
    def stop_sequences(self) -> list[str]:
        """Texts that end an answer; mostly none."""
        return [self.stop] if isinstance(self.stop, str) else self.stop or []

    def retry_settings(self) -> RetrySettings:
        """The retry policy; 3 retries from 1000 ms, doubled each time, capped at 60 s, if unset."""
        block = self.retry or RetryBlock()
        given = {
            name: getattr(self, flat) if getattr(self, flat) is not None else getattr(block, name)
            for name, flat in _FLAT.items()
        }
        codes = given.pop("retryable_status_codes")
        known = {name: value for name, value in given.items() if value is not None}
        return RetrySettings(
            status_codes=frozenset(codes) if codes is not None else self.retried_statuses,
            max_retry_after_seconds=self.max_retry_after_seconds,
            **known,
        )

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Settings given twice."""
        yield from super().problems(files)
        yield from self._unsendable()
        if self.max_output_tokens and self.max_tokens:
            yield given_twice("max_tokens", "max_output_tokens")
        if (self.price_per_million_input is None) != (self.price_per_million_output is None):
            yield OptionProblem(
                path=(),
                message="a price for input needs one for output beside it, and the other way round",
                hint="give both `price_per_million_input` and `price_per_million_output`",
                code="missing-key",
            )
        for name, flat in _FLAT.items():
            if (
                self.retry
                and getattr(self.retry, name) is not None
                and getattr(self, flat) is not None
            ):
                yield given_twice(flat, f"retry.{name}")

    def _unsendable(self) -> Iterator[OptionProblem]:
        """What no request could carry; the message does not show it, since it is a secret."""
        if self.key and not (self.key.isascii() and self.key.isprintable()):
            yield OptionProblem(
                path=("api_key",),
                message=f"the key of target '{self.name}' holds a character that no key has:"
                " a line break, or a letter with an accent",
                hint="copy it once more",
            )
        for name, value in self.headers.items():
            if not value.isprintable():
                yield OptionProblem(
                    path=("headers", name),
                    message=f"the header '{name}' holds a line break or another control character",
                    hint="take it out",
                )


def given_twice(key: str, other: str) -> OptionProblem:
    """Two keys of one meaning."""
    return OptionProblem(
        path=(key,),
        message=f"'{key}' is the same as '{other}'",
        hint="keep one",
        code="given-twice",
    )
