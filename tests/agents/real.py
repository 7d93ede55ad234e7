"""The real programs that tests run, and how each is told to ask the tests' own vendor."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from agents.install import FOLDER, installed, pins

KEY_VARIABLE = "TEST_AGENT_KEY"
"""Holds the vendor's key; targets refer to it."""
_KEY = "${{ TEST_AGENT_KEY }}"

_CODEX_CONFIG = """\
model = "fake-model"
model_provider = "loop"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
env_key = "LOOP_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""

Settings = Callable[[str, Path], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RealAgent:
    """One agent, as npm installs it."""

    provider: str
    package: str
    settings: Settings
    """Keys of a target, from the vendor's address and a folder for the agent's own files."""
    tool: str
    """What a trace calls the tool that runs commands."""

    def __str__(self) -> str:
        return self.provider

    def require(self) -> Self:
        """Skip the test if it is not installed."""
        why_not = _why_not(self.package)
        if why_not is not None:
            pytest.skip(why_not)
        return self

    @property
    def executable(self) -> Path:
        """Its program."""
        return FOLDER / "node_modules" / ".bin" / self.provider

    def target(self, url: str, home: Path, **more: Any) -> dict[str, Any]:
        """A target that asks the vendor at an address."""
        settings = self.settings(url, home)
        env = {"HOME": str(home), **settings.pop("env"), **more.pop("env", {})}
        return {
            "name": "default",
            "provider": self.provider,
            "executable": str(self.require().executable),
            "env": env,
            **settings,
            **more,
        }


def _codex(url: str, home: Path) -> dict[str, Any]:
    (home / "config.toml").write_text(_CODEX_CONFIG.format(url=url))
    return {"env": {"CODEX_HOME": str(home), "LOOP_KEY": _KEY}}


def _claude(url: str, home: Path) -> dict[str, Any]:
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CONFIG_DIR": str(home),
        "IS_SANDBOX": "1",  # else it refuses to skip permissions for root
    }
    return {"env": env, "args": ["--dangerously-skip-permissions"]}


CODEX = RealAgent(provider="codex", package="@openai/codex", settings=_codex, tool="shell")
CLAUDE = RealAgent(
    provider="claude", package="@anthropic-ai/claude-code", settings=_claude, tool="Bash"
)
REAL_AGENTS = (CODEX, CLAUDE)


def _why_not(package: str) -> str | None:
    pinned, there = pins()[package], installed().get(package)
    if there == pinned:
        return None
    instead = f" ({there} is)" if there else ""
    command = "make agents" if package in pins(everything=False) else "make test-agents"
    how = f"`{command}` installs it where Node.js and npm are on PATH"
    return f"{package} {pinned} is not installed{instead}; {how}"
