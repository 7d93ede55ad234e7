"""Runs that are killed at random lose nothing, double nothing, and come to the same end.

`python -m benchmarks.kills` does the same hundreds of times.
"""

from collections.abc import Iterator
from random import Random

import pytest

from agentv.errors import ExitCode
from kill_harness import Death, Flavour, KilledProject, killed_project, may_mount, story


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledProject]:
    with killed_project(tmp_path_factory.mktemp("passing"), Flavour(cases=6)) as made:
        assert made.control.code == ExitCode.OK
        yield made


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledProject]:
    flavour = Flavour(cases=6, failing=True)
    with killed_project(tmp_path_factory.mktemp("failing"), flavour) as made:
        assert made.control.code == ExitCode.GATE_FAILED
        yield made


@pytest.mark.parametrize("death", [Death.KILL, Death.INTERRUPT_TWICE, Death.DISK])
def test_a_run_that_was_cut_short_comes_to_the_same_end(
    passing: KilledProject, death: Death
) -> None:
    """Whatever ended it: no row lost or doubled, and only what was in flight is asked again."""
    told = story(passing, Random(death.name), death, kills=2)
    assert told.broken == []


@pytest.mark.parametrize("death", [Death.TERM, Death.CUT])
def test_a_failing_run_that_was_cut_short_fails_alike(failing: KilledProject, death: Death) -> None:
    """Nor does a suite that fails turn green on the way."""
    told = story(failing, Random(death.name), death, kills=2)
    assert told.broken == []


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount a disk")
def test_a_disk_that_fills_up_ends_a_run_that_goes_on_when_there_is_room(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    flavour = Flavour(cases=6, padding=48_000)
    with killed_project(tmp_path_factory.mktemp("small"), flavour) as project:
        told = story(project, Random(1), Death.SMALL_DISK, kills=2)
    assert told.broken == []
    assert told.kills == 2
