"""Which recordings of a case stay, and where the next one goes."""

import json
from pathlib import Path

from agentv.model.exchange import CommandAsked, CommandEnded, Exchange
from agentv.transport.cassettes.asker import NO_TRIAL, TrialName
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.shelf import Shelf, trial_of

ONE = TrialName(dataset="a", eval_id="c", target="one")
OTHER = TrialName(dataset="a", eval_id="c", target="other")


def verdict_on(trial: TrialName) -> Exchange:
    return Exchange(
        target="judge",
        dataset=trial.dataset,
        eval_id=trial.eval_id,
        trial=trial.number,
        about=trial.target,
        request=CommandAsked(run="judge"),
        reply=CommandEnded(exit_code=0),
        duration_ms=1.0,
    )


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def shelf_with(folder: Path, *trials: TrialName) -> Shelf:
    cassette = CassetteFolder(folder)
    for number, trial in enumerate(trials, 1):
        cassette.add(folder / "judge" / "c" / f"{number}.json", verdict_on(trial))
    return Shelf(cassette, folder / "judge" / "c")


def test_a_place_is_behind_a_trials_own_and_between_the_others(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path, OTHER, ONE, OTHER)
    assert names([shelf.place(ONE), shelf.place(ONE)]) == ["4.json", "5.json"]
    assert names([*shelf.take_down(lambda each: each.of == OTHER)]) == ["1.json", "3.json"]
    assert names([shelf.place(OTHER), shelf.place(OTHER)]) == ["1.json", "3.json"]


def test_what_will_be_replaced_does_not_count(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path, ONE, OTHER, ONE)
    places = [shelf.place(ONE, stays=False) for _ in range(3)]
    assert names(places) == ["1.json", "3.json", "4.json"]


def test_a_file_that_cannot_be_read_goes_with_any_other(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path, ONE, OTHER)
    (tmp_path / "judge" / "c" / "1.json").write_text("{")
    shelf = Shelf(CassetteFolder(tmp_path), tmp_path / "judge" / "c")
    assert names([*shelf.take_down(lambda each: False)]) == ["1.json"]
    assert names([*shelf.take_down(lambda each: True)]) == ["2.json"]


def test_whose_an_exchange_is() -> None:
    """A judge's is its candidate's; what belongs to no case is nobody's."""
    assert trial_of(verdict_on(ONE)) == ONE
    assert trial_of(verdict_on(NO_TRIAL)) == NO_TRIAL


def test_a_reply_that_never_came_counts_once_the_run_goes_on(tmp_path: Path) -> None:
    cassette, folder = CassetteFolder(tmp_path), tmp_path / "judge" / "-"
    first, second = folder / "1.json", folder / "2.json"
    for place in (first, second):
        cassette.mark_lost(place, verdict_on(NO_TRIAL))
    cassette.add(first, verdict_on(NO_TRIAL))
    (folder / ".3.json.1.tmp").write_text("half")
    assert names(cassette.files_of(folder)) == ["1.json"]
    cassette.tidy(folder, keep_lost=True)
    assert sorted(path.name for path in folder.iterdir()) == ["1.json", "2.json"]
    assert json.loads(second.read_bytes())["target"] == "judge"
