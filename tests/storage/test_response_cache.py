import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentv.core.redaction import Redactor
from agentv.errors import SetupError
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.storage.response_cache import (
    CacheStats,
    SqliteResponseCache,
    UnreadableCacheError,
    cache_stats,
    clear_cache,
)

ANSWER = ProviderResponse(
    text="Because – 🙂.",
    reasoning="Hm.",
    usage=Usage(input_tokens=3, cost_usd=0.1),
    trace=[{"tool": "search"}],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "responses.sqlite"


def nobody(message: str) -> None:
    raise AssertionError(message)


def test_an_answer_outlives_the_cache_that_kept_it(path: Path) -> None:
    with SqliteResponseCache(path, nobody) as cache:
        assert cache.get("key") is None
        cache.put("key", ANSWER)
        assert cache.get("key") == ANSWER
        assert cache.get("other") is None
    with SqliteResponseCache(path, nobody) as cache:
        assert cache.get("key") == ANSWER


def test_a_later_answer_takes_the_place_of_an_earlier_one(path: Path) -> None:
    with SqliteResponseCache(path, nobody) as cache:
        cache.put("key", ANSWER)
        cache.put("key", ProviderResponse(text="So."))
        assert cache.get("key") == ProviderResponse(text="So.")


def test_an_answer_that_holds_a_secret_is_not_kept(path: Path) -> None:
    with SqliteResponseCache(path, nobody) as cache:
        cache.keep_secret(Redactor({"KEY": "hunter2hunter2"}))
        cache.put("key", ProviderResponse(text="The key is hunter2hunter2."))
        cache.put("trace", ProviderResponse(text="Ok.", trace=[{"env": "hunter2hunter2"}]))
        cache.put("clean", ANSWER)
        assert cache_stats(path).answers == 1
    assert not any(b"hunter2" in part.read_bytes() for part in path.parent.iterdir())


def test_a_trace_that_no_file_can_hold_is_not_kept(path: Path) -> None:
    with SqliteResponseCache(path, nobody) as cache:
        cache.put("key", ProviderResponse(text="Ok.", trace=[{"object": object()}]))
        assert cache.get("key") is None


WRITER = """\
import sys
from pathlib import Path
from agentv.model.request import ProviderResponse
from agentv.storage.response_cache import SqliteResponseCache

def fail(message):
    sys.exit(message)

with SqliteResponseCache(Path(sys.argv[1]), fail) as cache:
    for number in range(200):
        cache.put(f"{sys.argv[2]}-{number}", ProviderResponse(text=sys.argv[2]))
        cache.put("shared", ProviderResponse(text=sys.argv[2]))
        if cache.get("shared") is None:
            sys.exit("gone")
"""


def test_processes_share_it_from_its_first_moment(path: Path) -> None:
    """Four of them make it at once, and none loses an answer."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], env=dict(os.environ))
        for name in "abcd"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    with SqliteResponseCache(path, nobody) as cache:
        for name in "abcd":
            assert cache.get(f"{name}-199") == ProviderResponse(text=name)
    assert cache_stats(path).answers == 4 * 200 + 1


@pytest.mark.parametrize("content", [b"not a database at all" * 200, b"\0" * 4096])
def test_a_file_that_is_no_cache_is_refused_with_what_to_do(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(UnreadableCacheError) as refused:
        SqliteResponseCache(path, nobody)
    assert str(refused.value) == (
        f"{path} is no response cache (file is not a database); `agentv cache clear` takes it "
        "away, and without --cache it is not needed."
    )
    clear_cache(path)
    assert not path.exists()


def test_a_cache_of_a_later_version_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.execute("pragma user_version = 99")
    database.close()
    before = path.read_bytes()
    with pytest.raises(SetupError, match="made by a later version of AgentV"):
        SqliteResponseCache(path, nobody)
    assert path.read_bytes() == before


def test_a_place_that_takes_no_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot be written"):
        SqliteResponseCache(tmp_path / "file" / "responses.sqlite", nobody)


def test_a_cache_that_breaks_is_said_once_and_no_answer_is_lost(path: Path) -> None:
    said: list[str] = []
    with SqliteResponseCache(path, said.append) as cache:
        other = sqlite3.connect(path)
        other.execute("drop table responses")
        other.close()
        cache.put("key", ANSWER)
        cache.put("key", ANSWER)
        assert cache.get("key") is None
    assert said == [
        f"{path} cannot be used any more (no such table: responses): answers are no longer kept"
    ]


def test_an_answer_that_cannot_be_read_is_asked_for_again(path: Path) -> None:
    with SqliteResponseCache(path, nobody) as cache:
        cache.put("key", ANSWER)
        other = sqlite3.connect(path)
        other.execute("update responses set response = x'00'")
        other.commit()
        other.close()
        assert cache.get("key") is None
        cache.put("key", ANSWER)
        assert cache.get("key") == ANSWER


def test_what_is_in_it_can_be_counted_and_taken_out(path: Path) -> None:
    assert cache_stats(path) == CacheStats(answers=0, size_bytes=0)
    clear_cache(path)
    assert not path.exists()
    with SqliteResponseCache(path, nobody) as cache:
        cache.put("a", ANSWER)
        cache.put("b", ANSWER)
        stats = cache_stats(path)
        assert (stats.answers, stats.size_bytes > 0) == (2, True)
        assert stats.oldest is not None
        assert stats.newest is not None
        assert stats.oldest <= stats.newest
        clear_cache(path)
        assert cache_stats(path).answers == 0
        cache.put("c", ANSWER)  # a run that is under way goes on
    assert cache_stats(path).answers == 1
