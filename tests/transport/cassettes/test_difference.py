"""A miss is named by the lines in which it differs from a recording."""

from agentv.model.exchange import CommandAsked, Content, HttpAsked
from agentv.transport.cassettes.difference import difference, likeness, title_of


def http(*contents: str) -> HttpAsked:
    messages = [{"role": "user", "content": content} for content in contents]
    body = {"model": "m-1", "messages": messages}
    return HttpAsked(method="POST", url="https://x/v1/chat", headers={}, body=Content(json=body))


def test_one_line_of_a_prompt() -> None:
    lines = difference(http("Be kind.\nSay hello.\nBye."), http("Be kind.\nSay no.\nBye."))
    assert lines == ("   Be kind.", "-  Say hello.", "+  Say no.", "   Bye.")


def test_a_long_line_is_shown_where_it_differs() -> None:
    before, after = "x" * 3000 + " red " + "y" * 3000, "x" * 3000 + " blue " + "y" * 3000
    changed = [line for line in difference(http(before), http(after)) if line[0] in "+-"]
    assert [line[:46].lstrip("+-…x") for line in changed] == [" red ", " blue"]
    assert all(len(line) < 200 for line in changed)


def test_much_that_differs_is_cut() -> None:
    old, new = ("\n".join(f"{word} {n}" for n in range(500)) for word in ("old", "new"))
    lines = difference(http(old), http(new))
    assert len(lines) == 31
    assert lines[-1] == "… 972 more lines"


def test_a_command() -> None:
    one = CommandAsked(
        run=("codex", "exec", "-"), stdin=Content(lines=("a", "b")), files={"f": "1"}
    )
    other = CommandAsked(run=("codex", "exec", "-"), stdin=Content(lines=("a", "c")), files={})
    assert title_of(one) == "command `codex exec -`"
    assert difference(one, other) == ("   a", "-  b", "-f: 1", "+  c")


def test_the_likeliest() -> None:
    asked = http("Translate the letter to Anna.")
    assert likeness(http("Translate the letter to Anne."), asked) > likeness(http("Sum."), asked)
