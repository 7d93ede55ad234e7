"""What the generations of Claude models take, told from their names.

Each line here answers a 400: since 4.7 a sampling setting and a thinking budget are refused, 4.6
began to choose its own amount of thinking, 4.5 to hold an answer to a JSON Schema.
"""

import re

from agentv.model.base import Record

_NAME = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_UNKNOWN = (4, 6)
"""A name that says no version gets whatever the author asks for: 4.6 takes the old and the new."""


class ClaudeModel(Record, frozen=True, kw_only=True):
    """A generation of models."""

    version: tuple[int, int]

    @property
    def takes_sampling(self) -> bool:
        """Whether `temperature` and `top_p` may be set."""
        return self.version < (4, 7)

    @property
    def takes_budget(self) -> bool:
        """Whether thinking can be given a budget of tokens."""
        return self.version < (4, 7)

    @property
    def thinks_adaptively(self) -> bool:
        """Whether it can decide itself how much to think."""
        return self.version >= (4, 6)

    @property
    def takes_schema(self) -> bool:
        """Whether an answer can be held to a JSON Schema."""
        return self.version >= (4, 5)


def claude_model(name: str) -> ClaudeModel:
    """`claude-sonnet-4-5-20250929` is a 4.5; a date is no version."""
    found = _NAME.search(name)
    if found is None:
        return ClaudeModel(version=_UNKNOWN)
    return ClaudeModel(version=(int(found[1]), int(found[2] or 0)))
