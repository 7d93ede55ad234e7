"""Results that are late, cut off, incomplete, or of something else."""

from collections.abc import Callable
from pathlib import Path

import pytest
from batch_runs import APIS, Runs, questions, words
from batch_vendor import BatchVendor, Mishap

ALL = [f"batched: case {number:02}" for number in range(30)]
LINES = ["openai", "anthropic"]


def counted(outcomes: list[str | None]) -> int:
    return sum(outcome is not None for outcome in outcomes)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mishap", ["reset", "lost", "429", "500", "truncated"])
def test_a_failed_download_or_look_is_repeated(api: str, mishap: Mishap, tmp_path: Path) -> None:
    mishaps = {"status": [None, mishap, mishap], "results": [mishap, mishap]}
    with BatchVendor(mishaps=mishaps, fates={"case 01": 500}) as vendor:  # type: ignore[arg-type]
        outcomes = [words(outcome) for outcome in Runs(vendor, tmp_path, api).once(questions())]
    assert outcomes == [ALL[0], None, *ALL[2:]]


@pytest.mark.parametrize("api", LINES)
def test_results_that_are_cut_off_between_lines_are_fetched_again(api: str, tmp_path: Path) -> None:
    """They look whole: only the batch's own count shows that something is missing."""
    fetched = 0

    def cut_once(lines: list[str]) -> list[str]:
        nonlocal fetched
        fetched += 1
        return lines[:11] if fetched == 1 else lines

    with BatchVendor(doctored=cut_once) as vendor:
        outcomes = [words(outcome) for outcome in Runs(vendor, tmp_path, api).once(questions())]
    assert outcomes == ALL
    assert fetched == 2


def unreadable(lines: list[str]) -> list[str]:
    return ["{half a line\n", *lines[1:]]


def shapeless(lines: list[str]) -> list[str]:
    return ['{"custom_id": 7}\n', *lines[1:]]


def missing(lines: list[str]) -> list[str]:
    return lines[1:]


def unknown(lines: list[str]) -> list[str]:
    return [*lines, lines[0].replace('"custom_id": "', '"custom_id": "other-')]


def twice(lines: list[str]) -> list[str]:
    return [*lines, lines[0].replace("batched: case", "changed: case")]


def without_body(lines: list[str]) -> list[str]:
    start = '"body": ' if '"body": ' in lines[0] else '"message": '
    head, _, _ = lines[0].partition(start)
    return [f"{head}{start}null}}}}\n", *lines[1:]]


@pytest.mark.parametrize("api", LINES)
@pytest.mark.parametrize(
    ("doctored", "answered", "said"),
    [
        pytest.param(unreadable, 29, "1 results cannot be read; 1 requests have no", id="broken"),
        pytest.param(shapeless, 29, "1 results cannot be read", id="of-another-shape"),
        pytest.param(missing, 29, "1 requests have no result", id="missing"),
        pytest.param(unknown, 30, "1 results are of requests that are not in it", id="unknown"),
        pytest.param(twice, 30, "1 results came for requests that had one", id="twice"),
        pytest.param(without_body, 29, None, id="without-a-body"),
    ],
)
def test_results_that_are_not_as_documented_cost_no_other_answer(
    api: str,
    doctored: Callable[[list[str]], list[str]],
    answered: int,
    said: str | None,
    tmp_path: Path,
) -> None:
    with BatchVendor(doctored=doctored) as vendor:
        runs = Runs(vendor, tmp_path, api)
        outcomes = [words(outcome) for outcome in runs.once(questions())]
    assert counted(outcomes) == answered
    assert {outcome for outcome in outcomes if outcome} <= set(ALL)
    assert [said in line for line in runs.warnings if said] == ([True] if said else [])


@pytest.mark.parametrize("api", ["openai", "azure"])
@pytest.mark.parametrize("word", ["expired", "cancelled"])
def test_a_batch_that_did_not_end_well_has_the_answers_that_it_has(
    api: str, word: str, tmp_path: Path
) -> None:
    late = {f"case {number:02}": None for number in range(10, 30)}
    with BatchVendor(word=word, fates=late) as vendor:
        runs = Runs(vendor, tmp_path, api)
        outcomes = [words(outcome) for outcome in runs.once(questions())]
    assert outcomes == ALL[:10] + [None] * 20
    assert any(f"batch b0 ({word}) — 10 of 30 done, 20 failed" in line for line in runs.said)
    assert "the others are sent singly (20 batch_expired)" in runs.said[-1]


def test_gemini_results_without_keys_are_taken_in_order(tmp_path: Path) -> None:
    """As documented; some versions of the service give no keys back."""
    with BatchVendor(keyless=True, fates={"case 04": 400}) as vendor:
        runs = Runs(vendor, tmp_path, "gemini")
        outcomes = [words(outcome) for outcome in runs.once(questions())]
    assert outcomes == [*ALL[:4], None, *ALL[5:]]
    [warning] = runs.warnings
    assert "the results do not say whose they are: they are taken in order" in warning


def test_too_many_gemini_results_without_keys_are_nobodys(tmp_path: Path) -> None:
    """The service has mixed up large batches: no case may be given another's answer."""
    with BatchVendor(keyless=True) as vendor:
        runs = Runs(vendor, tmp_path, "gemini")
        outcomes = runs.once(questions(1001))
    assert outcomes == [None] * 1001
    assert "1001 results do not say whose they are" in runs.warnings[0]


def test_a_batch_that_a_new_list_does_not_show_yet_is_not_given_up(tmp_path: Path) -> None:
    with BatchVendor(poll_statuses=[404, 404]) as vendor:
        runs = Runs(vendor, tmp_path)
        assert counted([words(outcome) for outcome in runs.once(questions())]) == 30
        assert len(vendor.batches) == 1


def test_an_outage_while_waiting_is_said(tmp_path: Path) -> None:
    with BatchVendor(poll_statuses=[503] * 4) as vendor:
        runs = Runs(vendor, tmp_path)
        runs.once(questions())
    [line] = [line for line in runs.said if "asking again" in line]
    assert "answered 503" in line


def test_results_that_are_gone_make_a_batch_worthless(tmp_path: Path) -> None:
    """Otherwise the same command would end in vain for two days."""
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path, "openai")
        runs.cut_short(questions())
        vendor.mishaps["results"] = [None, "404"]
        outcomes = [words(outcome) for outcome in runs.once(questions())]
        assert len(vendor.batches) == 2
    assert outcomes == ALL
    assert any("the results of batch b0 are gone" in line for line in runs.said)
