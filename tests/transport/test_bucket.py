"""A rate limit that allows short bursts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.transport.bucket import Bucket


def start_times(bucket: Bucket, amounts: list[float]) -> list[float]:
    now, times = 0.0, []
    for amount in amounts:
        now += bucket.wait(now, amount)
        bucket.take(now, amount)
        times.append(now)
    return times


def test_a_burst_goes_at_once_and_the_rest_evenly() -> None:
    times = start_times(Bucket(rate=2.0, burst=3.0), [1.0] * 6)
    assert times == pytest.approx([0, 0, 0, 0.5, 1.0, 1.5])


def test_more_than_a_burst_goes_once_the_bucket_is_full_and_delays_what_follows() -> None:
    times = start_times(Bucket(rate=10.0, burst=10.0), [5.0, 30.0, 10.0])
    assert times == pytest.approx([0.0, 0.5, 3.5])


def test_a_rest_fills_no_more_than_a_burst() -> None:
    bucket = Bucket(rate=1.0, burst=2.0)
    bucket.take(0.0, 2.0)
    bucket.take(1000.0, 2.0)
    assert bucket.wait(1000.0) == pytest.approx(1.0)


def test_another_rate_goes_on_from_the_level_reached() -> None:
    bucket = Bucket(rate=1.0, burst=1.0)
    bucket.take(0.0)
    bucket.retune(0.5, rate=0.1, burst=1.0)
    assert bucket.wait(0.5) == pytest.approx(5.0)


@given(
    rate=st.floats(0.1, 1000),
    burst=st.floats(1, 100),
    amounts=st.lists(st.floats(0.1, 50), min_size=1, max_size=60),
)
def test_in_no_stretch_of_time_more_goes_than_a_burst_and_the_rate(
    rate: float, burst: float, amounts: list[float]
) -> None:
    """The one that overdraws the bucket is paid for by those after it."""
    times = start_times(Bucket(rate, burst), amounts)
    for first in range(len(times)):
        gone = sum(amounts[first:-1])
        allowed = burst + rate * (times[-1] - times[first])
        assert gone <= allowed * (1 + 1e-6) + 1e-6
