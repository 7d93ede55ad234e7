"""What workspaces begin with."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from agentv.errors import ProviderError
from agentv.providers.agents.template import FolderCopy, RepositoryClone, run_git
from agentv.providers.agents.workspace_diff import WorkspaceDiff
from agentv.transport.process import Processes

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ("git", *IDENTITY, *arguments), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits, the first with a tag, and a change that is not committed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    for text in ("one", "two"):
        (folder / "a.txt").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", text)
    git(folder, "tag", "first", "HEAD~1")
    (folder / "a.txt").write_text("three")
    return folder


def clone(repository: Path, ref: str, into: Path) -> None:
    async def story() -> None:
        async with Processes() as processes:
            await RepositoryClone(repository, ref, processes, dict(os.environ)).fill(into)

    into.mkdir()
    asyncio.run(story())


def copy(folder: Path, into: Path) -> None:
    into.mkdir()
    asyncio.run(FolderCopy(folder=folder).fill(into))


@pytest.mark.timeout(30)
def test_a_folder_is_copied_as_it_is(tmp_path: Path) -> None:
    """Links stay links, pipes and what runs left are left out, rights are kept."""
    source, copied = tmp_path / "source", tmp_path / "copied"
    for name in (".agentv/logs/codex/x.log", ".agentv/targets.yaml", ".git/config", "logs/mine"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (source / "run.sh").touch(0o755)
    (source / "link").symlink_to("run.sh")
    (source / "broken").symlink_to("/nowhere/at/all")
    (source / "empty").mkdir()
    os.mkfifo(source / "pipe")
    copy(source, copied)

    found = {str(path.relative_to(copied)) for path in copied.rglob("*")}
    assert found == {
        *(".agentv", ".agentv/targets.yaml", ".git", ".git/config", "logs", "logs/mine"),
        *("run.sh", "link", "broken", "empty"),
    }
    assert (copied / "link").readlink() == Path("run.sh")
    assert (copied / "run.sh").stat().st_mode & 0o777 == 0o755


def test_a_folder_that_has_vanished(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"cannot be copied: .*No such file") as error:
        copy(tmp_path / "nowhere", tmp_path / "copied")
    assert error.value.kind == "workspace"


@pytest.mark.parametrize(("ref", "text"), [("main", "two"), ("first", "one"), ("HEAD~1", "one")])
def test_a_repository_is_cloned_at_a_commit(
    repository: Path, tmp_path: Path, ref: str, text: str
) -> None:
    """What is not committed is no part of it."""
    into = tmp_path / "clone"
    clone(repository, ref, into)

    assert (into / "a.txt").read_text() == text
    assert git(into, "status", "--porcelain") == ""
    assert git(into, "remote") == ""


def test_the_original_is_out_of_reach(repository: Path, tmp_path: Path) -> None:
    """Whatever is committed or collected in a clone, the original stays as it was."""
    into = tmp_path / "clone"
    before = git(repository, "rev-parse", "main", "first")
    clone(repository, "main", into)
    (into / "a.txt").write_text("changed")
    git(into, "commit", "-qam", "changed")
    git(into, "tag", "-f", "first")
    git(into, "gc", "--quiet", "--prune=now")

    assert git(repository, "rev-parse", "main", "first") == before
    assert (repository / "a.txt").read_text() == "three"
    assert git(repository, "fsck") == ""


@pytest.mark.parametrize("ref", ["no-such-branch", "--output=/tmp/x", ""])
def test_a_commit_that_is_not_there(repository: Path, tmp_path: Path, ref: str) -> None:
    with pytest.raises(ProviderError, match="has no commit, branch or tag") as error:
        clone(repository, ref, tmp_path / "clone")
    assert error.value.kind == "workspace"


def test_git_says_which_command_failed(tmp_path: Path) -> None:
    async def story() -> None:
        async with Processes() as processes:
            where = ("-C", str(tmp_path))
            await run_git(("log",), processes, dict(os.environ), where=where)

    with pytest.raises(ProviderError, match="`git log` failed in the workspace") as error:
        asyncio.run(story())
    assert "not a git repository" in (error.value.detail or "")


def test_a_diff_ignores_what_the_user_has_set_for_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[diff]\n external = false\n noprefix = true\n[color]\n ui = always\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    workspace, private = tmp_path / "workspace", tmp_path / "private"
    workspace.mkdir()
    private.mkdir()
    (workspace / "a b.txt").write_text("one\n")
    (workspace / "b.bin").write_bytes(b"\x00\x01")

    async def story() -> tuple[str, str]:
        async with Processes() as processes:
            diff = WorkspaceDiff(workspace, private, processes, dict(os.environ))
            await diff.remember()
            nothing = await diff.since()
            (workspace / "a b.txt").write_text("two\n")
            (workspace / "b.bin").write_bytes(b"\x00\x02")
            return nothing, await diff.since()

    nothing, changed = asyncio.run(story())
    assert nothing == ""
    assert "--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n-one\n+two\n" in changed
    assert "b.bin" in changed
    assert not (workspace / ".git").exists()
