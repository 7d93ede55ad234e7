"""What models take of an author's settings: a guess from their names, and what refusals teach.

Reasoning models refuse `temperature` and `top_p`, and name the output limit differently. A model
that we misjudge says so with a 400, which names the setting: it is then asked without it.
"""

import re

from agentv.model.base import Record
from agentv.providers.apis.wire import ReplyError

SCHEMA = "schema"
"""Stands for a JSON Schema that we, not the author, asked for."""
_SAMPLING = frozenset({"temperature", "top_p"})
_LIMITS = ("max_completion_tokens", "max_tokens")
_REASONING = re.compile(r"(?:o[1-9]|gpt-[5-9]|codex-mini)(?![a-z0-9])(?!-chat)")
_RESTS = re.compile(r"gpt-5\.[1-4](?!.*-(?:chat|codex|pro))")
"""Reasons only when it is told how much."""
_REFUSING = re.compile(r"unsupported|not supported?\b|unrecognized|unknown|not permitted", re.I)
_SETTING = re.compile(r"\b(?:max_completion_tokens|max_tokens|temperature|top_p)\b")
_FORMAT = re.compile(r"\b(?:response_format|json_schema|text\.format)\b")


class Takes(Record, frozen=True, kw_only=True):
    """Which settings a model is sent."""

    refused: frozenset[str] = frozenset()
    """Names of settings, and `SCHEMA`."""
    limit_keys: tuple[str, str] = ("max_tokens", "max_completion_tokens")
    """What chat completions call the output limit, the likelier name first."""

    @property
    def limit_key(self) -> str:
        """The name that was not refused; the second one if both were."""
        likely, other = self.limit_keys
        return other if likely in self.refused else likely

    def without(self, name: str) -> "Takes":
        """The same, with one more setting refused."""
        return Takes(refused=self.refused | {name}, limit_keys=self.limit_keys)


def takes(model: str, *, effort: str | None, at_openai: bool) -> Takes:
    """What a model is likely to take.

    Args:
        model: Its name, perhaps behind the name of its maker: `openai/o3`.
        effort: The reasoning effort asked for: with `none`, sampling can be set.
        at_openai: Whether OpenAI itself serves it, which has given up the older limit's name.
            Others, and older versions of Azure, may not know the newer one.
    """
    name = model.rpartition("/")[2]
    reasons = _REASONING.match(name) is not None
    first, second = _LIMITS if reasons or at_openai else reversed(_LIMITS)
    used = effort or ("none" if _RESTS.match(name) else None)
    return Takes(
        refused=_SAMPLING if reasons and used != "none" else frozenset(),
        limit_keys=(first, second),
    )


def refused_setting(said: ReplyError) -> str | None:
    """The setting of ours that an error is about; `None` if it is about something else."""
    if _FORMAT.search(f"{said.param} {said.message}"):
        return SCHEMA
    if not _REFUSING.search(f"{said.code} {said.message}"):
        return None
    named = _SETTING.fullmatch(said.param or "") or _SETTING.search(said.message)
    return named[0] if named else None
