"""Fixtures for every test."""

from pathlib import Path

import pytest
from hypothesis import settings

from agentv.testing import Project

settings.register_profile("agentv", deadline=None)
settings.load_profile("agentv")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project that is its own repository."""
    (tmp_path / ".git").mkdir()
    return Project(tmp_path)
