"""Lines are the same however the stream is cut into pieces."""

from hypothesis import given
from hypothesis import strategies as st

from agentv.providers.agents.lines import LineSplitter

BYTES = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n", b"\xff\x00"])).map(b"".join)


def split(pieces: list[bytes], *, longest: int = 1000) -> tuple[list[bytes], int]:
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append, longest=longest)
    for piece in pieces:
        splitter.feed(piece)
    splitter.close()
    return lines, splitter.dropped


@given(text=BYTES, cuts=st.lists(st.integers(0, 60)))
def test_pieces_make_no_difference(text: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in zip(places, [*places[1:], len(text)], strict=True)]
    lines, dropped = split(pieces)

    wanted = text.split(b"\n")
    if wanted[-1] == b"":
        wanted.pop()
    assert lines == [line.removesuffix(b"\r") for line in wanted]
    assert dropped == 0


@given(lengths=st.lists(st.integers(0, 20)), size=st.integers(1, 7))
def test_a_line_that_is_too_long_is_dropped_whole(lengths: list[int], size: int) -> None:
    """The lines around it are not touched, and it is counted."""
    text = b"".join(b"x" * length + b"\n" for length in lengths)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    lines, dropped = split(pieces, longest=10)

    assert lines == [b"x" * length for length in lengths if length <= 10]
    assert dropped == sum(length > 10 for length in lengths)


def test_a_last_line_without_an_end_that_is_too_long() -> None:
    assert split([b"ok\n", b"x" * 11], longest=10) == ([b"ok"], 1)
