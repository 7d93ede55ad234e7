"""Fixtures for tests of agents, a plugin of pytest."""

import tempfile

import pytest

from agents.real import KEY_VARIABLE, REAL_AGENTS, RealAgent
from agents.stage import Stage
from agentv.testing import Project

VENDOR_KEY = "agent-vendor-key-0123456789"


@pytest.fixture
def stage(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Stage:
    """An empty project, with the vendor's key in the environment."""
    tmp, home = tmp_path_factory.mktemp("tmp"), tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TMPDIR", str(tmp))
    monkeypatch.setattr(tempfile, "tempdir", None)  # what it remembers of the last test
    monkeypatch.setenv(KEY_VARIABLE, VENDOR_KEY)
    return Stage(project=project, home=home, tmp=tmp)


@pytest.fixture(
    params=[pytest.param(agent, marks=pytest.mark.agents, id=str(agent)) for agent in REAL_AGENTS]
)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    """Each agent in its turn; skips the test where it is not installed."""
    found: RealAgent = request.param
    return found.require()
