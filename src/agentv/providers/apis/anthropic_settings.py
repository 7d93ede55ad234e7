"""What a target for Claude models may set, and what of it a model is sent."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Meta

from agentv.core.backoff import DEFAULT_STATUS_CODES
from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.providers.apis.address import access_problems
from agentv.providers.apis.claude_models import ADAPTIVE, BETWEEN_TOOLS, BOTH, BUDGET, OFF, SCHEMA
from agentv.providers.apis.options import ApiOptions, Count, Effort
from agentv.providers.apis.plain_schema import plain_schema
from agentv.providers.apis.shape import given
from agentv.providers.apis.wire import Json

DEFAULT_OUTPUT_TOKENS = 8192
ROOM_TO_THINK = 8192
"""The API wants a limit. What a model thinks, perhaps unasked, counts towards it."""
LEAST_BUDGET = 1024
LEAST_TOP_P_WHILE_THINKING = 0.95
OVERLOADED = 529


class AnthropicOptions(ApiOptions, frozen=True, kw_only=True):
    """What an `anthropic` target may set."""

    retried_statuses: ClassVar[frozenset[int]] = DEFAULT_STATUS_CODES | {OVERLOADED}

    model: Name
    api_key: str | None = None
    """Only a `base_url` of your own can do without."""
    base_url: Name | None = None
    """Where the API is, with or without its `/v1`; `https://api.anthropic.com` when unset."""
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Left out while the model thinks, and for models from 4.7 on, which refuse it; `top_p`
    likewise, and beside a temperature from 4.1 on."""
    thinking_budget: Count | None = None
    """Tokens to think with, at least 1024; 0 turns thinking off, where it can be. Models from 4.7
    on know no budget and decide themselves. An output limit that leaves no room beside it is added
    to it."""
    reasoning_effort: Effort | None = None
    structured_output: bool | None = None
    """Hold a judge's reply to its JSON Schema; whether the model can, when unset."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """No access, and a budget that the API refuses."""
        yield from super().problems(files)
        yield from access_problems(self.name, self.key, self.base_url, variable="ANTHROPIC_API_KEY")
        if self.thinking_budget and self.thinking_budget < LEAST_BUDGET:
            yield OptionProblem(
                path=("thinking_budget",),
                message=f"a thinking budget has at least {LEAST_BUDGET} tokens",
                hint=f"write {LEAST_BUDGET} or more, or 0 for no thinking",
            )


class SentSettings:
    """The settings of a target in the API's words, without what its model refuses.

    Args:
        options: The target's.
        refused: What the model does not take (see `claude_models`).
    """

    def __init__(self, options: AnthropicOptions, refused: frozenset[str]) -> None:
        self._options = options
        self._refused = refused

    @property
    def thinking(self) -> Json | None:
        """How to think: the first kind that says what is wanted and is not refused."""
        budget, effort = self._options.thinking_budget, self._options.reasoning_effort
        if budget == 0 or (budget is None and effort == "none"):
            kinds = [OFF, BETWEEN_TOOLS]
        elif budget:
            kinds = [BUDGET, ADAPTIVE]
        else:
            kinds = [ADAPTIVE] if effort else []
        kind = next((kind for kind in kinds if kind not in self._refused), None)
        if kind is None:
            return None
        return given(type=kind, budget_tokens=budget if kind == BUDGET else None)

    @property
    def limit(self) -> int:
        """Thinking counts towards the limit; one that it would use up is meant for the answer."""
        limit = self._options.output_limit
        budget: int = (self.thinking or {}).get("budget_tokens", 0)
        if limit is not None:
            return limit if limit > budget else budget + limit
        may_think = ADAPTIVE not in self._refused
        return (budget or (ROOM_TO_THINK if may_think else 0)) + DEFAULT_OUTPUT_TOKENS

    @property
    def sampling(self) -> Json:
        """What the model takes of `temperature` and `top_p`: thinking narrows it."""
        wanted = given(temperature=self._options.temperature, top_p=self._options.top_p)
        if (self.thinking or {}).get("type") in (BUDGET, ADAPTIVE):
            wanted.pop("temperature", None)
            if wanted.get("top_p", 0) < LEAST_TOP_P_WHILE_THINKING:
                wanted.pop("top_p", None)
        if BOTH in self._refused and "temperature" in wanted:
            wanted.pop("top_p", None)
        return {name: wanted[name] for name in wanted if name not in self._refused}

    @property
    def effort(self) -> str | None:
        """The effort, if one is asked for; the least that the API knows for less than that."""
        effort = self._options.reasoning_effort
        if effort in (None, "none") or "effort" in self._refused:
            return None
        return "low" if effort == "minimal" else effort

    def output_config(self, schema: Json | None) -> Json | None:
        """The effort, and the JSON Schema of a judge's reply where the model can be held to it."""
        wanted = self._options.structured_output
        is_held = schema and (SCHEMA not in self._refused if wanted is None else wanted)
        held = {"type": "json_schema", "schema": plain_schema(schema)} if is_held else None
        return given(effort=self.effort, format=held) or None

    def left_out(self) -> Iterator[str]:
        """Names of the author's settings that are not sent."""
        options, thinking, sent = self._options, self.thinking, self.sampling
        for name in ("temperature", "top_p"):
            if getattr(options, name) is not None and name not in sent:
                yield name
        kind = thinking["type"] if thinking else None
        if options.thinking_budget is not None and kind in (None, ADAPTIVE):
            yield "thinking_budget"
        effort = options.reasoning_effort
        if effort is not None and not (thinking if effort == "none" else self.effort):
            yield "reasoning_effort"
        if options.seed is not None:
            yield "seed"
