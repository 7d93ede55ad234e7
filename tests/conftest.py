"""Fixtures for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from agentv.testing import Project

pytest_plugins = ["agents.fixtures"]

settings.register_profile("agentv", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("agentv")  # unless `--hypothesis-profile` names another one


@pytest.fixture(scope="session", autouse=True)
def _own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered between runs stays out of the user's own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project that is its own repository."""
    (tmp_path / ".git").mkdir()
    return Project(tmp_path)
