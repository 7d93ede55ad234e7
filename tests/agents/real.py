"""The real programs that tests run, and how each is told to ask the tests' own vendor."""

import json
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
    program: str = ""
    """Its executable's name, if it is not the provider's."""

    def __str__(self) -> str:
        return self.provider

    def require(self) -> Self:
        """Skip the test if it is not installed."""
        why_not = _why_not(self.package)
        if why_not is not None:
            pytest.skip(why_not)
        return self

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.program or self.provider

    @property
    def executable(self) -> Path:
        """Its program."""
        return FOLDER / "node_modules" / ".bin" / self.name

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


def _copilot(url: str, home: Path) -> dict[str, Any]:
    env = {
        "COPILOT_HOME": str(home / ".copilot"),
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": _KEY,
        "COPILOT_PROVIDER_WIRE_API": "responses",
        # Extracted once, some 300 MB; the tests' own homes are too many for that.
        "COPILOT_CACHE_HOME": str(FOLDER / "copilot-cache"),
    }
    return {"env": env, "model": "gpt-5"}


def _gemini(url: str, home: Path) -> dict[str, Any]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"maxAttempts": 1},
    }
    _write_json(home / ".gemini" / "settings.json", settings)
    env = {
        "GEMINI_CLI_HOME": str(home),  # a sandbox has a `HOME` of its own
        "GEMINI_API_KEY": _KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
    }
    return {"env": env, "model": "gemini-2.5-flash"}


def _opencode(url: str, home: Path) -> dict[str, Any]:
    loop = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "{env:LOOP_KEY}"},
        "models": {"fake-model": {"cost": {"input": 1, "output": 2}}},
    }
    _write_json(home / "opencode.json", {"provider": {"loop": loop}})
    env = {
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "LOOP_KEY": _KEY,
    }
    return {"env": env, "model": "loop/fake-model"}


def _pi(url: str, home: Path) -> dict[str, Any]:
    loop = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "LOOP_KEY",
        "models": [{"id": "fake-model"}],
    }
    _write_json(home / "models.json", {"providers": {"loop": loop}})
    retry = {"enabled": False, "provider": {"maxRetries": 0}}
    _write_json(home / "settings.json", {"retry": retry})
    env = {"PI_CODING_AGENT_DIR": str(home), "LOOP_KEY": _KEY}
    return {"env": env, "model": "loop/fake-model"}


def _write_json(file: Path, content: Any) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), "utf-8")


CODEX = RealAgent(provider="codex", package="@openai/codex", settings=_codex, tool="shell")
CLAUDE = RealAgent(
    provider="claude",
    package="@anthropic-ai/claude-code",
    settings=_claude,
    tool="Bash",
)
COPILOT = RealAgent(provider="copilot", package="@github/copilot", settings=_copilot, tool="bash")
GEMINI = RealAgent(
    provider="gemini-cli",
    package="@google/gemini-cli",
    settings=_gemini,
    tool="run_shell_command",
    program="gemini",
)
OPENCODE = RealAgent(provider="opencode", package="opencode-ai", settings=_opencode, tool="bash")
PI = RealAgent(provider="pi", package="@mariozechner/pi-coding-agent", settings=_pi, tool="bash")
REAL_AGENTS = (CODEX, CLAUDE, COPILOT, GEMINI, OPENCODE, PI)


def _why_not(package: str) -> str | None:
    pinned, there = pins()[package], installed().get(package)
    if there == pinned:
        return None
    instead = f" ({there} is)" if there else ""
    command = "make agents" if package in pins(everything=False) else "make test-agents"
    how = f"`{command}` installs it where Node.js and npm are on PATH"
    return f"{package} {pinned} is not installed{instead}; {how}"
