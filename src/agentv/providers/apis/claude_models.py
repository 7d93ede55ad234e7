"""What Claude models refuse of an author's settings: a guess from their names, and what refusals
teach.

Each generation gave something up: 4.1 took `temperature` or `top_p`, not both; 4.6 began to choose
how much to think; 4.7 took neither sampling settings nor thinking budgets any more; some since 5
cannot stop thinking. A model that we misjudge says so with a 400: it is then asked without.
"""

import re

from agentv.providers.apis.wire import ReplyError

SCHEMA = "schema"
"""Stands for the JSON Schema of a judge's reply."""
BOTH = "temperature and top_p"
BUDGET, ADAPTIVE, OFF, BETWEEN_TOOLS = "enabled", "adaptive", "disabled", "between_tools"
"""Kinds of thinking, as the API calls them."""

_NAME = re.compile(r"claude-(?:([a-z]+)-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_ALWAYS_THINKING = frozenset({"fable", "mythos"})
_REFUSING = re.compile(r"not support|deprecated|not permitted|cannot both|may only be", re.I)
_SETTINGS = {
    OFF: re.compile(r"thinking\.type\.disabled"),
    BUDGET: re.compile(r"thinking\.type\.enabled"),
    ADAPTIVE: re.compile(r"thinking\.type\.adaptive|adaptive thinking", re.I),
    SCHEMA: re.compile(
        r"output_config\.format|output_format|output format|structured output", re.I
    ),
    "effort": re.compile(r"\beffort\b"),
    BOTH: re.compile(r"cannot both"),
    "temperature": re.compile(r"\btemperature\b"),
    "top_p": re.compile(r"\btop_p\b"),
}
"""How errors name them; the first that fits is the one that is refused."""


def refused_by(model: str) -> frozenset[str]:
    """What a model is known to refuse, by its name.

    A name that says no version is refused nothing: that is found out by asking.
    """
    found = _NAME.search(model)
    if found is None:
        return frozenset({BETWEEN_TOOLS})
    family, version = found[1], (int(found[2]), int(found[3] or 0))
    thinks_always = family in _ALWAYS_THINKING or (family == "opus" and version >= (5, 5))
    only_pauses = family == "sonnet" and version >= (5, 5)
    rules = {
        BOTH: version >= (4, 1),
        "temperature": version >= (4, 7),
        "top_p": version >= (4, 7),
        BUDGET: version >= (4, 7),
        ADAPTIVE: version < (4, 6),
        OFF: thinks_always or only_pauses,
        BETWEEN_TOOLS: not only_pauses,
        "effort": version < (4, 5) or (version < (4, 6) and family != "opus"),
        SCHEMA: version < (4, 5),
    }
    return frozenset(name for name, is_refused in rules.items() if is_refused)


def refused_setting(said: ReplyError) -> str | None:
    """The setting of ours that an error is about; `None` if it is about something else."""
    if not _REFUSING.search(said.message):
        return None
    return next((name for name, words in _SETTINGS.items() if words.search(said.message)), None)
