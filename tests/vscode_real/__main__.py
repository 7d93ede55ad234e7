"""One eval against a real VS Code, from its set-up to its verdicts: `python -m vscode_real`."""

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from vscode_real import code, model, tools

_SUITE = """\
evalcases:
  - id: small
    outcome: Adds two numbers.
    input_messages: [{role: user, content: What is 20 + 22?}]
    evaluators: [{type: equals, value: It is 42.}]
  - id: large
    outcome: Adds two numbers.
    input_messages: [{role: user, content: What is 900 + 99?}]
    evaluators: [{type: equals, value: It is 999.}]
"""
_TARGETS = """\
targets:
  - name: default
    provider: vscode
    executable: ./code
    subagent_root: workers
    timeout_seconds: 120
    wakeup_timeout_seconds: 120
  - name: batching
    provider: vscode
    executable: ./code
    subagent_root: workers
    timeout_seconds: 120
    wakeup_timeout_seconds: 120
    provider_batching: true
"""
_SETTINGS = {
    "chat.tools.global.autoApprove": True,
    "chat.tools.autoApprove": True,
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    # Of every port that any program here listens on, a toast would lie over the chat's input.
    "remote.autoForwardPorts": False,
}


def main() -> int:
    """Set up, run, and say what came of it."""
    missing = tools.missing_packages()
    if missing:
        print(f"First, as root: apt-get install {' '.join(missing)}")
        return 2
    tools.install()
    sys.path.append(str(tools.PYTHON))
    with tempfile.TemporaryDirectory(prefix="agentv-vscode-") as folder:
        outcome = asyncio.run(_story(Path(folder)))
    print("real VS Code:", "ok" if outcome == 0 else f"FAILED (exit {outcome})")
    return outcome


async def _story(folder: Path) -> int:
    from vscode_real.browser import windows

    pictures = tools.TOOLS / "pictures"
    pictures.mkdir(exist_ok=True)
    seen: list[dict[str, Any]] = []
    with model.serving(seen) as address:
        async with _code_server(folder, address) as server:
            door = folder / "code.sock"
            async with windows(server, shutil.which("chromium") or "", door, pictures):
                exit_code = await _eval(folder, door)
    _show(folder, seen)
    return exit_code


async def _eval(folder: Path, door: Path) -> int:
    (folder / ".git").mkdir()
    (folder / "a.eval.yaml").write_text(_SUITE)
    (folder / "targets.yaml").write_text(_TARGETS)
    program = folder / "code"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {code.__file__} "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "VSCODE_REAL_SOCKET": str(door)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentv", "eval", "a.eval.yaml", "--verbose"),
        *("--target", "default", "--target", "batching"),
        cwd=folder,
        env=env,
    )
    return await process.wait()


@asynccontextmanager
async def _code_server(folder: Path, model_address: str) -> AsyncIterator[str]:
    """The address of VS Code's server, whose chat knows our model only."""
    user = folder / "data" / "User"
    user.mkdir(parents=True)
    (user / "settings.json").write_text(json.dumps(_SETTINGS))
    (user / "chatLanguageModels.json").write_text(json.dumps([_model_entry(model_address)]))
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        *(str(tools.NODE / "bin" / "node"), str(tools.CODE_SERVER)),
        *("--bind-addr", f"127.0.0.1:{port}", "--auth", "none"),
        *("--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "extensions")),
        *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        await _listening(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


def _model_entry(address: str) -> dict[str, Any]:
    return {
        "name": "Loopback",
        "vendor": "customendpoint",
        "apiKey": "made-up-key",
        "apiType": "chat-completions",
        "models": [
            {
                "id": "loopback-model",
                "name": model.MODEL_NAME,
                "url": address,
                "toolCalling": True,
                "vision": False,
                "maxInputTokens": 128000,
                "maxOutputTokens": 16000,
            }
        ],
    }


def _show(folder: Path, seen: list[dict[str, Any]]) -> None:
    print(f"the model was asked {len(seen)} times:")
    for one in seen:
        step = one["step"]
        what = (
            step
            if isinstance(step, str)
            else f"{step[0]} {step[1].get('filePath') or step[1]['prompt']}"
        )
        print(f"  {one['tools']:3} tools -> {what}".replace(str(folder), "…"))
    for path in sorted(folder.glob(".agentv/results/*/results.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            who = f"{row['eval_id']} on {row['target']}"
            print(f"  {who}: {row['verdict']}, {row['candidate_answer']!r}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _listening(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.2)
            else:
                writer.close()
                return


if __name__ == "__main__":
    sys.exit(main())
