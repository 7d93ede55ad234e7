"""Programs that stand in for an agent: they say what a test wants, as that agent would."""

import shlex
import sys
from pathlib import Path
from typing import Any

STAND_INS = ("codex", "claude")
"""The agents that can be stood in for."""

_PRELUDE = '''
import json, os, signal, subprocess, sys, time
from pathlib import Path

codex = "exec" in sys.argv

def say(**event):
    print(json.dumps(event), flush=True)

def answer(text):
    """Answer as the agent that was called does."""
    if codex:
        say(type="item.completed", item={"id": "i", "type": "agent_message", "text": text})
        say(type="turn.completed", usage={"input_tokens": 5, "output_tokens": 7})
    else:
        usage = {"input_tokens": 5, "output_tokens": 7}
        say(type="result", subtype="success", is_error=False, result=text, usage=usage)

def fail(reason):
    """Fail as the agent that was called does."""
    if codex:
        say(type="turn.failed", error={"message": reason})
    else:
        say(type="result", subtype="success", is_error=True, result=reason)
    sys.exit(1)

'''


def stand_in(provider: str, folder: Path, code: str, **settings: Any) -> dict[str, Any]:
    """A target whose agent is a Python program.

    Args:
        provider: What it stands in for.
        folder: Where its program is written to.
        code: The program; it can `say` an event, `answer` and `fail`.
        settings: More keys of the target.
    """
    source, program = folder / "agent_source.py", folder / "agent"
    source.write_text(_PRELUDE + code, "utf-8")
    python = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(source))}"
    program.write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    program.chmod(0o755)
    return {"name": "default", "provider": provider, "executable": str(program), **settings}
