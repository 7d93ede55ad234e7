"""Where an agent's program is looked for."""

from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.providers.agents.executable import find_executable


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_a_name_is_looked_for_on_path(tmp_path: Path) -> None:
    """On the target's own `PATH`; not in the project."""
    wanted = program(tmp_path / "bin" / "agent")
    program(tmp_path / "agent")
    env = {"PATH": f"/nowhere:{tmp_path}/bin"}

    assert find_executable("agent", env=env, folder=tmp_path) == wanted
    with pytest.raises(SetupError, match="the program 'agent' was not found on PATH"):
        find_executable("agent", env={"PATH": "/nowhere"}, folder=tmp_path)


def test_a_path_is_from_the_project_or_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, project = tmp_path / "here", tmp_path / "project"
    mine = program(here / "tools" / "agent")
    project.mkdir()
    monkeypatch.chdir(here)
    assert find_executable("tools/agent", env={}, folder=project) == mine
    assert find_executable("./tools/agent", env={}, folder=project) == mine

    nearer = program(project / "tools" / "agent")
    assert find_executable("tools/agent", env={}, folder=project) == nearer
    assert find_executable(str(mine), env={}, folder=project) == mine


def test_a_path_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    wanted = program(tmp_path / "bin" / "agent")

    assert find_executable("~/bin/agent", env={}, folder=Path("/nowhere")) == wanted


def test_a_path_with_nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where it was looked for; a folder is no program."""
    (tmp_path / "project" / "tools" / "agent").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SetupError) as error:
        find_executable("tools/agent", env={}, folder=tmp_path / "project")
    places = f"{tmp_path}/project/tools/agent, {tmp_path}/tools/agent"
    assert str(error.value) == f"the program 'tools/agent' was not found ({places})"


def test_a_file_that_may_not_be_executed(tmp_path: Path) -> None:
    path = program(tmp_path / "agent", 0o644)

    with pytest.raises(SetupError, match=r"may not be executed \(`chmod \+x` would allow it"):
        find_executable(str(path), env={}, folder=tmp_path)
