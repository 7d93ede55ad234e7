"""Ctrl-C while agents work: they and their folders are gone at once."""

import time

import pytest

from agents.stage import Stage
from agents.stand_in import STAND_INS, stand_in
from agentv.errors import ExitCode
from story import case, contains, suite, targets
from terminal import on_terminal

STUCK = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
Path("work").write_text("work")
Path(os.environ["BEGUN"], str(os.getpid())).touch()
time.sleep(120)
"""


@pytest.mark.parametrize("provider", STAND_INS)
def test_nothing_is_left(stage: Stage, provider: str) -> None:
    begun = stage.home / "begun"
    begun.mkdir()
    target = stand_in(
        provider, stage.home, STUCK, env={"BEGUN": str(begun)}, keep_workspace="on_failure"
    )
    cases = suite(*(case(id_, contains("four")) for id_ in ("one", "two", "three")))
    stage.project.write({"a.eval.yaml": cases, "targets.yaml": targets(target)})
    options = ("eval", "a.eval.yaml", "--workers", "3")
    with on_terminal(stage.project.folder, *options) as terminal:
        deadline = time.monotonic() + 60
        while len(list(begun.iterdir())) < 3:
            assert time.monotonic() < deadline, terminal.seen
            time.sleep(0.005)
        terminal.type("\x03")
        code = terminal.end()

    assert code == ExitCode.INTERRUPTED
    stage.assert_clean()
    assert len(stage.logs(provider)) == 3
