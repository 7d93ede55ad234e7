"""Install the agents of `package.json` into `.tools/agents`, unless they are there already.

    python tests/agents/install.py                 # Codex and Claude Code
    python tests/agents/install.py --all           # the others too
    python tests/agents/install.py --if-possible   # not having them is no failure

There is no lock file: it would name the registry that it was made with. What is installed is
written down last, in `.tools/agents/installed.json`, so a broken installation is never used.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

PINS = Path(__file__).with_name("package.json")
FOLDER = Path(__file__).parents[2] / ".tools" / "agents"
INSTALLED = FOLDER / "installed.json"
_NPM = ("install", "--prefer-offline", "--no-package-lock", "--no-audit", "--no-fund")
_LONGEST_SECONDS = 900


def pins(*, everything: bool = True) -> dict[str, str]:
    """The wanted version of each package."""
    package = json.loads(PINS.read_text("utf-8"))
    pinned: dict[str, str] = package["dependencies"]
    return {**pinned, **package["devDependencies"]} if everything else pinned


def installed() -> dict[str, str]:
    """The version of each package that is there."""
    try:
        found: dict[str, str] = json.loads(INSTALLED.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def install(wanted: dict[str, str]) -> str | None:
    """Install packages, and keep what is there besides; returns what went wrong, if anything."""
    there = installed()
    if wanted.items() <= there.items():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "npm, which comes with Node.js, is not on PATH"
    wanted = {**{name: pin for name, pin in pins().items() if name in there}, **wanted}
    FOLDER.mkdir(parents=True, exist_ok=True)
    INSTALLED.unlink(missing_ok=True)
    package = {"private": True, "dependencies": wanted}
    (FOLDER / "package.json").write_text(json.dumps(package), "utf-8")
    try:
        subprocess.run(
            (npm, *_NPM, "--loglevel=error"), cwd=FOLDER, check=True, timeout=_LONGEST_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"npm could not install them: {error}"
    INSTALLED.write_text(json.dumps(wanted), "utf-8")
    return None


def main() -> int:
    """Install what the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(description="Install the agents that the tests run.")
    parser.add_argument("--all", action="store_true", help="all of them, some 1.4 GB")
    parser.add_argument("--if-possible", action="store_true", help="exit with 0 in any case")
    asked = parser.parse_args()
    wanted = pins(everything=asked.all)
    trouble = install(wanted)
    if trouble is None:
        return 0
    print(f"Agents are not installed: {trouble}.", file=sys.stderr)
    if asked.if_possible:
        print("The tests that run them will be skipped.", file=sys.stderr)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
