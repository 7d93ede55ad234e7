"""Anchors and aliases, with limits: nine lines of aliases can stand for a billion values."""

from typing import Any

from agentv.loading.limits import MAX_DEPTH
from agentv.loading.nearest import did_you_mean

_LEAST_BUDGET = 10_000
_OPEN = object()
"""Stands for an anchored value that has begun and not ended."""


class AliasError(Exception):
    """An alias that cannot be followed."""

    def __init__(self, message: str, hint: str, code: str) -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code
        self.fatal = code != "yaml-syntax"
        """Whether reading on could take for ever; a misspelt alias is no such danger."""


class Anchors:
    """The anchored values of one document, in the order of its text.

    The budget for values behind aliases grows with the text, so ten thousand cases may share one
    list of evaluators, while what is loaded stays in proportion to what was written.
    """

    def __init__(self, characters: int) -> None:
        self._values: dict[str, Any] = {}
        self._budget = max(_LEAST_BUDGET, characters)

    def begin(self, name: str) -> None:
        """An anchored list or mapping has begun."""
        self._values[name] = _OPEN

    def define(self, name: str, value: Any) -> None:
        """An anchored value is complete."""
        self._values[name] = value

    def follow(self, name: str, depth: int) -> Any:
        """The value of an alias that stands at `depth`.

        Raises:
            AliasError: There is no such anchor, or the alias stands for too much.
        """
        if name not in self._values:
            hint = did_you_mean(name, self._values) or "quote a text that starts with '*'"
            raise AliasError(f"no anchor '&{name}' stands before this alias", hint, "yaml-syntax")
        value = self._values[name]
        if value is _OPEN:
            message = f"the alias '*{name}' stands inside its own anchor"
            raise AliasError(message, "write the values out", "alias-budget")
        count, height = _extent(value, self._budget)
        self._budget -= count
        if self._budget < 0:
            message = "the aliases of this file stand for too many values"
            raise AliasError(message, "write the values out", "alias-budget")
        if depth + height > MAX_DEPTH:
            raise AliasError(*TOO_DEEP)
        return value


TOO_DEEP = (f"values are nested more than {MAX_DEPTH} deep", "write a flatter file", "depth")
"""Message, hint and code."""


def _extent(value: Any, limit: int) -> tuple[int, int]:
    """How many values a value holds, itself included, and how deep it is.

    Counting stops beyond `limit`.
    """
    count = height = 0
    waiting = [(value, 0)]
    while waiting and count <= limit:
        item, depth = waiting.pop()
        count += 1
        if isinstance(item, dict | list):
            height = max(height, depth + 1)
            parts = item.values() if isinstance(item, dict) else item
            waiting.extend((part, depth + 1) for part in parts)
    return count, height
