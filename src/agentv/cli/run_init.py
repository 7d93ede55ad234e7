"""`agentv init`: write the starter, and never overwrite without consent."""

import shlex
from pathlib import Path

import click

from agentv.cli.console import can_be_asked, out, paint
from agentv.cli.starter import starter_files
from agentv.errors import ExitCode, SetupError


def run_init(folder: Path, *, force: bool) -> int:
    """Write the starter files into a folder and say what to do next."""
    kept = 0
    for name, text in starter_files().items():
        path = folder / name
        if path.exists() and _text(path) == text:
            out(f"  {paint('same', 'dim')}     {path}")
        elif path.exists() and not (force or _agrees(path)):
            kept += 1
            out(f"  {paint('kept', 'warn')}     {path} (yours differs; --force overwrites it)")
        else:
            verb = "replaced" if path.exists() else "wrote"
            _write(path, text)
            out(f"  {paint(verb, 'good'):8} {path}")
    out()
    out("Next:")
    where = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    out(f"  {where}agentv eval evals        run the starter suite")
    out(f"  {where}agentv validate          check every file")
    return ExitCode.OK


def _agrees(path: Path) -> bool:
    if not can_be_asked():
        return False
    return click.confirm(f"  {path} exists and differs. Overwrite it?", default=False)


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}") from error
