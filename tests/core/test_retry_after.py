"""How long a service asks us to wait, and by whose clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.core.backoff import RetrySettings
from agentv.core.retry_after import retry_after_seconds, service_time

NOON = 1_780_000_200.0  # Thu, 28 May 2026 20:30:00 GMT


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({"retry-after": "Thu, 28 May 2026 20:30:30 GMT"}, 30.0),
        ({"retry-after": "Thursday, 28-May-26 20:30:30 GMT"}, 30.0),
        ({"retry-after": "Thu May 28 20:30:30 2026"}, 30.0),
        ({"retry-after": "Thu, 28 May 2026 22:30:30 +0200"}, 30.0),
        ({"retry-after": "Thu, 28 May 2026 20:29:00 GMT"}, 0.0),
        ({"retry-after": "-7"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "1 Jan 2026 0:00:00 +99999999999999"}, None),
        ({}, None),
    ],
)
def test_every_form(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_seconds(headers, NOON) == expected


@given(st.text())
def test_nonsense_is_no_wait_to_speak_of(text: str) -> None:
    wait = retry_after_seconds({"retry-after": text}, NOON)
    assert wait is None or wait >= 0


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        pytest.param("Thu, 28 May 2026 20:30:00 GMT", NOON + 0.9, id="the same second"),
        pytest.param("Thu, 28 May 2026 20:29:59 GMT", NOON + 0.9, id="a date of a second ago"),
        pytest.param("Thu, 28 May 2026 20:30:01 GMT", NOON + 0.9, id="a moment ahead"),
        pytest.param("Thu, 28 May 2026 21:30:00 GMT", NOON + 3600, id="an hour ahead"),
        pytest.param("Thu, 28 May 2026 20:29:00 GMT", NOON - 60, id="a minute behind"),
        pytest.param("no date", NOON + 0.9, id="no date"),
        pytest.param(None, NOON + 0.9, id="none"),
    ],
)
def test_a_services_dates_are_held_against_its_own_clock(date: str | None, expected: float) -> None:
    """Ours is more exact, as long as the two agree."""
    headers = {} if date is None else {"date": date}
    assert service_time(headers, asked=NOON + 0.6, now=NOON + 0.9) == expected


@pytest.mark.parametrize(
    ("wait", "expected"), [(None, True), (0.0, True), (900.0, True), (900.5, False)]
)
def test_a_wait_can_be_too_long(wait: float | None, expected: bool) -> None:
    assert RetrySettings().bears(wait) is expected
