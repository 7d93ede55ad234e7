from hypothesis import given
from hypothesis import strategies as st

from agentv.transport.output import Output


@given(
    pieces=st.lists(st.binary(max_size=40)),
    head=st.integers(0, 30),
    tail=st.integers(0, 30),
)
def test_the_beginning_and_the_end_are_kept(pieces: list[bytes], head: int, tail: int) -> None:
    """Whatever the pieces, what is kept depends on the whole stream only."""
    output = Output(head=head, tail=tail)
    for piece in pieces:
        output.add(piece)
    whole = b"".join(pieces)
    missing = len(whole) - head - tail

    kept = output.value()

    assert output.truncated == (missing > 0)
    assert kept.startswith(whole[:head])
    if missing <= 0:
        assert kept == whole
    elif tail:
        assert kept.endswith(whole[-tail:])
        assert f"{missing} bytes left out" in kept.decode(errors="replace")
    else:
        assert kept == whole[:head]
