"""Runs that are killed at random lose nothing, double nothing, and come to the same end.

`python -m benchmarks.kills` does the same hundreds of times.
"""

from collections.abc import Iterator
from random import Random

import pytest

from kill_harness import Death, Flavour, KilledProject, killed_project, story


@pytest.fixture(scope="module", params=[False, True], ids=["passing", "failing"])
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KilledProject]:
    flavour = Flavour(cases=6, failing=request.param)
    with killed_project(tmp_path_factory.mktemp("kills"), flavour) as made:
        assert made.control.code == int(request.param)
        yield made


@pytest.mark.parametrize("death", Death, ids=lambda death: death.name.lower())
def test_a_run_that_was_killed_comes_to_the_same_end(project: KilledProject, death: Death) -> None:
    """Whatever ended it: no row lost or doubled, and only what was in flight is asked again."""
    seed = f"{death.name}, {project.flavour.failing}"
    told = story(project, Random(seed), death, kills=2)
    assert told.broken == []
    assert told.kills >= 1
