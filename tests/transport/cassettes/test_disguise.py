"""Secrets stay out of recordings; folders go out, and come in again as they are by then."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.transport.cassettes.disguise import Disguise, Secrets


def disguise(**places: str) -> Disguise:
    return Disguise(secrets=Secrets(), places={word: Path(place) for word, place in places.items()})


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("see /t/rooms-1/2/a.py", "see <agentv:room>/a.py"),
        ("[a](file:///t/rooms-1/2/a%20b.md)", "[a](file://<agentv:room>/a%20b.md)"),
        ('{"said": "\\n/t/rooms-1/2/a.py"}', '{"said": "\\n<agentv:room>/a.py"}'),
        ("It is in /t/rooms-1/2.", "It is in <agentv:room>."),
        ("/t/rooms-1/23 is another", "/t/rooms-1/23 is another"),
        ("/t/rooms-1/2.old is another", "/t/rooms-1/2.old is another"),
        ("/my/t/rooms-1/2 is another", "/my/t/rooms-1/2 is another"),
        ("somebody wrote <agentv:room>", "somebody wrote <agentv::room>"),
    ],
)
def test_a_folder_is_known_wherever_it_is_written(text: str, hidden: str) -> None:
    one = disguise(room="/t/rooms-1/2", project="/t")
    assert one.hide(text).replace("<agentv:project>", "/t") == hidden
    assert one.show(one.hide(text)) == text


def test_it_is_shown_where_it_is_now() -> None:
    recorded = disguise(room="/t/rooms-1/2").hide("/t/rooms-1/2/a <agentv:room>")
    assert disguise(room="/u/9").show(recorded) == "/u/9/a <agentv:room>"


def test_a_folder_with_signs_of_a_url_in_its_name() -> None:
    one = disguise(room="/t/my rooms é")
    link = Path("/t/my rooms é/a.md").as_uri()
    assert one.hide(link) == "file://<agentv:room>/a.md"


@given(st.text(alphabet="<agentv:>room/1x ") | st.text())
def test_what_is_hidden_comes_back(text: str) -> None:
    one = disguise(room="/room/1", project="/room")
    assert one.show_bytes(one.hide_bytes(text.encode("utf-8", "surrogatepass"))) == text.encode(
        "utf-8", "surrogatepass"
    )
