"""The bases of what an author may set on a target and on an evaluator.

Each provider and evaluator keeps its own options model beside its class and derives it from one of
these, so one model gives validation, the nearest-name hint and the JSON Schema.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from agentv.model.base import AuthoredRecord
from agentv.model.problem import KeyPath

Name = Annotated[str, Meta(min_length=1)]
Seconds = Annotated[float, Meta(gt=0)]
PromptMode = Literal["lm", "agent"]


class OptionProblem(AuthoredRecord, frozen=True, kw_only=True):
    """A mistake in options that their type alone cannot show (a regex that does not compile)."""

    path: KeyPath
    """Below the options' own place in the file."""
    message: str
    hint: str | None = None
    code: str = "invalid"


class FileFinder(Protocol):
    """Finds files an author refers to; see `agentv.loading.files`."""

    def find(self, reference: str) -> Path | None:
        """The existing file or folder, or `None`."""

    def tried(self, reference: str) -> list[Path]:
        """Every place that `find` looks at, in order."""


class TargetOptions(AuthoredRecord, frozen=True, kw_only=True):
    """Keys every target has, whatever its provider."""

    name: Name
    """How suites and flags call this target; unique in the file."""
    provider: Name
    """Which kind of system this is: `mock`, `cli`, …"""
    judge_target: str | None = None
    """The target that judges this target's answers; itself when unset."""
    workers: Annotated[int, Meta(ge=1)] | None = None
    """Trials in flight at once, unless `--workers` says otherwise; 1 when unset."""
    provider_batching: bool = False
    """Hand all cases over in one batch call where the provider can."""
    prompt_mode: PromptMode | None = None
    """`lm` puts file contents into the prompt, `agent` only their paths."""
    timeout_seconds: Seconds | None = None
    """Limit of one attempt; `--agent-timeout` when unset."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Mistakes that the types alone do not show."""
        del files
        yield from ()


class EvaluatorOptions(AuthoredRecord, frozen=True, kw_only=True):
    """Keys every evaluator has, whatever its type."""

    name: Name | None = None
    """How rows and summaries call this evaluator; its type when unset."""
    type: Name
    """Which kind of evaluator this is: `llm_judge`, `code`, `contains`, …"""
    weight: Annotated[float, Meta(gt=0)] = 1.0
    """Its share of the case's mean score."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Mistakes that the types alone do not show."""
        del files
        yield from ()

    def shaping(self, files: FileFinder) -> Any:
        """All that shapes its verdicts, as JSON-like values; files by what they hold.

        Two evaluators with equal ones say the same of an answer, save for chance. The weight is
        left out: it shapes the case's score, and no verdict.
        """
        del files
        values = msgspec.to_builtins(self)
        return {key: value for key, value in values.items() if key not in ("name", "weight")}

    @property
    def label(self) -> str:
        """The name shown in rows."""
        return self.name or self.type
