"""What a summary says of recording and replaying."""

from collections.abc import Iterator

from agentv.cli.console import one_line, paint
from agentv.execution.report import RunReport

_FILTERS = ("eval_ids", "targets", "shard")
"""Arguments by which a run is only a part of what was recorded."""


def cassette_lines(report: RunReport) -> Iterator[str]:
    """Where exchanges went to, or came from."""
    manifest, cassette = report.manifest, report.cassette
    if manifest.recorded:
        number = f" ({_several(cassette.exchanges, 'exchange')})" if cassette else ""
        yield f"  recorded    {one_line(manifest.recorded)}{number}"
    if manifest.replayed:
        number = f" ({_several(cassette.exchanges, 'exchange')})" if cassette else ""
        told = f"REPLAYED from {one_line(manifest.replayed)}{number}: nobody was asked."
        yield paint(f"  {told}", "warn")
    is_part = (
        report.resumed
        or manifest.rerun_of
        or any(manifest.arguments.get(name) for name in _FILTERS)
    )
    if cassette is not None and cassette.unused and not cassette.missed and not is_part:
        number = _several(cassette.unused, "recording")
        yield f"  {paint('note', 'warn')}        not asked for: {number}"


def missed_lines(report: RunReport) -> Iterator[str]:
    """What a replay has no recording of, each with its difference to the nearest one."""
    cassette = report.cassette
    if cassette is None or not cassette.missed:
        return
    yield paint(f"Not in the cassette {one_line(cassette.folder)} ({cassette.missed})", "bad")
    for miss in cassette.misses:
        case = f"{one_line(miss.eval_id)} on " if miss.eval_id else ""
        yield f"  ! {case}{one_line(miss.target)}  {one_line(miss.message, 300)}"
        for line in miss.difference:
            sign, text = line[:1], one_line(line[1:], 200)
            yield f"      {_coloured(sign, text)}"
    if more := cassette.missed - len(cassette.misses):
        yield f"  … and {more} more"
    yield ""


def _several(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _coloured(sign: str, text: str) -> str:
    if sign == "-":
        return paint(f"- {text}", "bad")
    return paint(f"+ {text}", "good") if sign == "+" else f"{sign} {text}"


def missed_reason(report: RunReport) -> str:
    """Why there is no verdict."""
    folder = one_line(report.manifest.replayed or "")
    number = report.summary.replay_misses or (report.cassette.missed if report.cassette else 0)
    what = "1 request was" if number == 1 else f"{number} requests were"
    return f"{what} not recorded in {folder}: this is no verdict"
