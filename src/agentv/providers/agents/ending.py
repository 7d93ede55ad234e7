"""From how an agent ended to its answer, or to the error that says why there is none."""

import re

from agentv.core.preread import missing_file
from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.base import Record
from agentv.model.process import CommandResult
from agentv.providers.agents.agent import Account
from agentv.providers.agents.event_stream import EventStream
from agentv.providers.process_ending import describe_exit, end_of

_LARGEST_ANSWER = 32 * 1024 * 1024
_LONGEST_LOOK = 65_536
_LONGEST_WORDS = 500
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TROUBLE = re.compile(
    r"\b(error|fail(ed|ure)?|unknown|unexpected|invalid|unable|cannot|denied|refused|must)\b", re.I
)


class Ending(Record, frozen=True, kw_only=True):
    """All that is known once an agent has ended."""

    program: str
    result: CommandResult
    stream: EventStream
    account: Account
    limit: float | None
    """Seconds it was given."""
    log: str | None
    """Where its log is."""

    def answer(self) -> str:
        """The answer; raises `ProviderError` when there is none."""
        error = self._error()
        if error is not None:
            raise error
        return self.account.answer or ""

    def _error(self) -> ProviderError | None:
        if self.result.timed_out:
            return self._timeout()
        return self._failure() or self._silence() or self._unfit()

    def _timeout(self) -> ProviderError:
        trouble = self.account.last_trouble or _last_trouble(self.result.stderr)
        why = f"; it last said: {trouble}" if trouble else ""
        message = f"{self.program} did not end within {self.limit:g} s{why}"
        return ProviderTimeout(message, detail=self._detail())

    def _failure(self) -> ProviderError | None:
        """It says that it failed, or its exit code does."""
        if self.account.failure is not None:
            return self._because(f"failed: {self.account.failure}", self.account.kind)
        if self.result.exit_code == 0:
            return None
        reason = self.account.last_trouble or _last_words(self.result.stderr)
        because = f": {reason}" if reason else ""
        return self._because(f"{describe_exit(self.result.exit_code or 0)}{because}", "exit")

    def _silence(self) -> ProviderError | None:
        """It ended well, and yet said nothing that could be read."""
        if self.account.answer is not None:
            return None
        if self.stream.events:
            # Some end before their pipe has taken the whole of a very large answer.
            why = ": its output breaks off in an event" if self.stream.breaks_off else ""
            if self.account.last_trouble is not None:
                why += f"; it last said: {self.account.last_trouble}"
            return self._because(f"ended without an answer{why}", "no_answer")
        if self.stream.first_stray is not None:
            sample = self.stream.first_stray
            return self._because(f"printed no JSON events; it began: {sample}", "invalid_output")
        return self._because("ended without any output", "no_output")

    def _unfit(self) -> ProviderError | None:
        """There is an answer, but not one to be scored."""
        answer = self.account.answer or ""
        if len(answer) > _LARGEST_ANSWER:
            megabytes = _LARGEST_ANSWER // 1024 // 1024
            return self._because(f"gave an answer larger than {megabytes} MB", "too_large")
        file = missing_file(answer)
        if file is not None:
            return self._because(f"could not open the file '{file}'", "missing_file")
        return None

    def _because(self, what: str, kind: str) -> ProviderError:
        return ProviderError(f"{self.program} {what}", kind=kind, detail=self._detail())

    def _detail(self) -> str | None:
        parts = [
            ("standard error", end_of(self.result.stderr)),
            ("standard output", end_of(self.result.stdout)),
            ("log", self.log),
        ]
        return "\n".join(f"{name}: {text}" for name, text in parts if text) or None


def _last_words(stderr: bytes) -> str | None:
    """What it said of its end: the last line that sounds like trouble, else the last of all."""
    return _last_trouble(stderr) or next(reversed(_lines(stderr)), None)


def _last_trouble(stderr: bytes) -> str | None:
    """Stack traces, printed objects and pages of help are indented, and stand around it."""
    lines = [line for line in _lines(stderr) if line[0].isalnum() and _TROUBLE.search(line)]
    return next(reversed(lines), None)


def _lines(stderr: bytes) -> list[str]:
    text = _ESCAPES.sub("", stderr[-_LONGEST_LOOK:].decode("utf-8", "replace"))
    return [line.rstrip()[:_LONGEST_WORDS] for line in text.splitlines() if line.strip()]
