"""Starting a program: its arguments as bytes, and every refusal as a sentence for a person."""

import errno
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from agentv.errors import SetupError

LONGEST_SHELL_TEXT = 100_000
"""Linux takes 131072 bytes for one argument; longer shell text goes through a file."""

_TOO_LARGE = (
    "an argument or the environment is too large (Linux takes 128 KB for one argument and about "
    "2 MB for all); pass long text through a file or through standard input"
)
_ADVICE = {
    errno.E2BIG: _TOO_LARGE,
    errno.EMFILE: "too many files are open; use fewer workers or raise `ulimit -n`",
    errno.EAGAIN: "too many processes are running; use fewer workers or raise `ulimit -u`",
    errno.ENOEXEC: "it is neither a program nor a script that begins with `#!`",
    errno.EACCES: "it may not be executed (`chmod +x` makes a script executable)",
}


@contextmanager
def arguments(run: str | tuple[str, ...]) -> Iterator[list[bytes]]:
    """The argument vector of a command: `/bin/sh` for a string, the tuple itself otherwise.

    Shell text too long for one argument is put into a private script, which is gone afterwards.

    Raises:
        SetupError: The command holds something that no program can be given.
    """
    if not isinstance(run, str):
        yield [_encode(part) for part in run]
        return
    text = _encode(run)
    if len(text) <= LONGEST_SHELL_TEXT:
        yield [b"/bin/sh", b"-c", text]
        return
    with _script(text) as path:
        yield [b"/bin/sh", _encode(path)]


def spawn(
    argv: list[bytes], *, cwd: Path | None, env: Mapping[str, str], stdin: bool
) -> subprocess.Popen[bytes]:
    """Start a program as the leader of its own session and process group.

    Raises:
        SetupError: The system refused; the message says why.
    """
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SetupError(_refusal(error, argv[0].decode(errors="replace"), cwd)) from error


def _refusal(error: OSError | ValueError, program: str, cwd: Path | None) -> str:
    if isinstance(error, ValueError):
        return f"'{program}' cannot be started: its environment is not valid ({error})."
    if cwd is not None and str(error.filename) == str(cwd):
        return f"The working folder '{cwd}' cannot be entered: {error.strerror}."
    if error.errno == errno.ENOENT:
        return f"The program '{program}' was not found."
    return f"'{program}' cannot be started: {_ADVICE.get(error.errno or 0, error.strerror)}."


def _encode(text: str) -> bytes:
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise SetupError(f"The command holds half a character ({half}), not valid text.") from error
    if b"\0" in data:
        raise SetupError("The command holds a NUL character, which no program can be given.")
    return data


@contextmanager
def _script(text: bytes) -> Iterator[str]:
    try:
        file = NamedTemporaryFile(prefix="agentv-", suffix=".sh")  # noqa: SIM115 - closed below
    except OSError as error:
        raise SetupError(f"No temporary script can be written: {error.strerror}.") from error
    with file:
        try:
            file.write(text)
            file.flush()
        except OSError as error:
            raise SetupError(f"No temporary script can be written: {error.strerror}.") from error
        yield file.name
