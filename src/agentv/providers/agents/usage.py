"""Adding up what the turns of one attempt consumed."""

from typing import Any

from agentv.model.score import Usage


def add_usage(so_far: Usage | None, more: Usage) -> Usage:
    """The sum; a count that one of them does not know is not known."""
    if so_far is None:
        return more
    return Usage(
        input_tokens=_add(so_far.input_tokens, more.input_tokens),
        cached_tokens=_add(so_far.cached_tokens, more.cached_tokens),
        output_tokens=_add(so_far.output_tokens, more.output_tokens),
        reasoning_tokens=_add(so_far.reasoning_tokens, more.reasoning_tokens),
        cost_usd=_add(so_far.cost_usd, more.cost_usd),
    )


def _add(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other
