"""The response cache: answers kept between runs, in one SQLite file that processes share."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentv.core.json_text import to_json
from agentv.core.redaction import Redactor
from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.request import ProviderResponse

CACHE_PATH = Path(".agentv") / "cache" / "responses.sqlite"
"""Below the working directory."""

_VERSION = 1
_BUSY_SECONDS = 10
_TABLE = """
create table if not exists responses (
  key text primary key,
  response blob not null,
  kept_at text not null
) without rowid
"""


class UnreadableCacheError(SetupError):
    """The file is no response cache, or not one of this version."""


class CacheStats(Record, frozen=True, kw_only=True):
    """What is in a cache."""

    answers: int
    size_bytes: int
    """On disk."""
    oldest: str | None = None
    """When it was kept; UTC, ISO 8601."""
    newest: str | None = None


class SqliteResponseCache:
    """A `ResponseCache`. What goes wrong with it after it was opened is said once, and it rests.

    Args:
        path: Created if it is not there.
        warn: Told why nothing is kept any more.

    Raises:
        SetupError: The file cannot be opened, or is no response cache.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        self._redactor = Redactor({})
        self._database: sqlite3.Connection | None = _open(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def keep_secret(self, redactor: Redactor) -> None:
        """From here on, answers in which it finds a secret are not kept."""
        self._redactor = redactor

    def get(self, key: str) -> ProviderResponse | None:
        """The answer that was kept under a key; `None` also for one that cannot be read."""
        if self._database is None:
            return None
        try:
            found = self._database.execute(
                "select response from responses where key = ?", (key,)
            ).fetchone()
            return msgspec.json.decode(found[0], type=ProviderResponse) if found else None
        except sqlite3.Error as error:
            self._give_up(error)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # asked anew, it is put in the place of what is there
        return None

    def put(self, key: str, response: ProviderResponse) -> None:
        """Keep an answer, unless it holds a secret; other processes see it from here on."""
        if self._database is None:
            return
        try:
            text = to_json(response)
        except (TypeError, ValueError):
            return  # somebody's own trace, which no file could hold
        if self._redactor.json_bytes(text) != text:
            return
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        try:
            self._database.execute(
                "insert or replace into responses values (?, ?, ?)", (key, text, now)
            )
        except sqlite3.Error as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        self._close()
        self._warn(f"{self._path} cannot be used any more ({error}): answers are no longer kept")

    def _close(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None


def cache_stats(path: Path) -> CacheStats:
    """What is in a cache; nothing, if there is none.

    Raises:
        SetupError: The file cannot be opened, or is no response cache.
    """
    if not path.exists():
        return CacheStats(answers=0, size_bytes=0)
    with closing(_open(path)) as database:
        try:
            answers, oldest, newest = database.execute(
                "select count(*), min(kept_at), max(kept_at) from responses"
            ).fetchone()
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
    size = sum(part.stat().st_size for part in _files(path) if part.exists())
    return CacheStats(answers=answers, size_bytes=size, oldest=oldest, newest=newest)


def clear_cache(path: Path) -> None:
    """Take everything out. A run that is under way goes on, and may put new answers in.

    Raises:
        SetupError: The file cannot be written.
    """
    try:
        database = _open(path) if path.exists() else None
    except UnreadableCacheError:
        _remove(path)
        return
    if database is None:
        return
    with closing(database):
        try:
            database.execute("delete from responses")
            database.execute("vacuum")
            database.execute("pragma wal_checkpoint(truncate)")
        except sqlite3.OperationalError as error:
            raise SetupError(f"{path} cannot be cleared: {error}.") from error
        except sqlite3.DatabaseError:
            _remove(path)


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}.") from error
    except sqlite3.Error as error:
        raise SetupError(f"{path} cannot be opened: {error}.") from error
    try:
        _set_up(database, path)
    except sqlite3.OperationalError as error:
        database.close()
        raise SetupError(f"{path} cannot be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        database.close()
        raise _unusable(path, error) from error
    except SetupError:
        database.close()
        raise
    return database


def _set_up(database: sqlite3.Connection, path: Path) -> None:
    (version,) = database.execute("pragma user_version").fetchone()
    if version > _VERSION:
        raise UnreadableCacheError(
            f"{path} was made by a later version of AgentV; "
            "`agentv cache clear` takes it away, and without --cache it is left alone."
        )
    # Readers and one writer do not wait for each other, and no answer waits for the disk.
    with suppress(sqlite3.OperationalError):  # another process is just doing this
        database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = normal")
    if version < _VERSION:
        database.execute(_TABLE)
        database.execute(f"pragma user_version = {_VERSION}")


def _unusable(path: Path, error: sqlite3.Error) -> UnreadableCacheError:
    return UnreadableCacheError(
        f"{path} is no response cache ({error}); `agentv cache clear` takes it away, "
        "and without --cache it is not needed."
    )


def _remove(path: Path) -> None:
    try:
        for part in _files(path):
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SetupError(f"{path} cannot be removed: {error.strerror}.") from error


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
