"""Whatever text a value holds, the shell hands exactly that text to the program."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentv.core.command_template import (
    PLACEHOLDERS,
    CommandTemplate,
    files_format_problems,
    template_problems,
)
from agentv.errors import AuthorError

ANY_TEXT = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from("'\"`$(){}[]\\\n\t\r;&|<>*?~#!=- %x1")
)

CONTEXTS = {
    "outside quotes": "printf '%s\\0' {PROMPT}",
    "double quotes": "printf '%s\\0' \"{PROMPT}\"",
    "single quotes": "printf '%s\\0' '{PROMPT}'",
    "joined to a word": "printf '%s\\0' pre{PROMPT}\"{PROMPT}\"'{PROMPT}'post",
    "an assignment": "value={PROMPT}; printf '%s\\0' \"$value\"",
    "a command in double quotes": "printf '%s\\0' \"$(printf '%s.' {PROMPT})\"",
    "quotes in a command in quotes": "printf '%s\\0' \"<$(printf '%s.' \"{PROMPT}\")>\"",
    "single quotes in a command": "printf '%s\\0' $(: '{PROMPT}')\"{PROMPT}\"",
    "after a comment": "# it's a comment\nprintf '%s\\0' {PROMPT}",
    "after an escaped quote": 'printf \'%s\\0\' \\"{PROMPT}\\\'"\\"{PROMPT}"',
    "after a parameter": "printf '%s\\0' \"$$${none}$#{PROMPT}${none:-}\" >/dev/null; "
    "printf '%s\\0' \"{PROMPT}\"",
    "after backticks": "printf '%s\\0' `:`{PROMPT}",
}
EXPECTED = {
    "joined to a word": "pre{0}{0}{0}post",
    "a command in double quotes": "{0}.",
    "quotes in a command in quotes": "<{0}.>",
    "after an escaped quote": '"{0}\'"{0}',
}


def shell(script: str) -> bytes:
    # By standard input, as a whole test's commands may be longer than one argument.
    done = subprocess.run(["/bin/sh"], input=script.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout


@settings(max_examples=60, deadline=None)
@given(values=st.lists(ANY_TEXT, min_size=1, max_size=20))
@example(values=["", "-n", "--", "'", '"', "`id`", "$(id)", "$HOME", "\\", "\\\\'", "a\n", "\n\n"])
@example(values=["if", "2", "A=b", "~", "*", "#", "!", "\x01\x7f", "日本語 é", "a\r\nb", "${x}"])
def test_any_text_arrives_as_it_is_in_every_supported_context(values: list[str]) -> None:
    """Covers the specification's "Placeholder substitution rules": values are shell-escaped."""
    script, expected = [], []
    for context, template in CONTEXTS.items():
        parsed = CommandTemplate.parse(template)
        for value in values:
            script.append(parsed.render({"PROMPT": value}))
            expected.append(EXPECTED.get(context, "{0}").replace("{0}", value))
    assert shell("\n".join(script)).decode().split("\0")[:-1] == expected


@settings(max_examples=40, deadline=None)
@given(paths=st.lists(ANY_TEXT.map(lambda text: f"/folder/{text.replace('/', '')}x"), max_size=8))
@pytest.mark.parametrize(
    ("files_format", "shown"),
    [
        ("{path}", ["{path}"]),
        ("--file {path}", ["--file", "{path}"]),
        ("--file={path}", ["--file={path}"]),
        ("\"{basename}=@{path}\" '{basename}'", ["{basename}=@{path}", "{basename}"]),
    ],
)
def test_files_are_separate_words_in_their_format(
    files_format: str, shown: list[str], paths: list[str]
) -> None:
    template = CommandTemplate.parse("printf '%s\\0' start {FILES} end", files_format=files_format)
    expected = ["start"]
    for path in paths:
        name = path.removeprefix("/folder/")
        words = {"{path}": path, "{basename}": name}
        expected += [
            "".join(words.get(part, part) for part in _split(pattern)) for pattern in shown
        ]
    words_seen = shell(template.render({}, paths)).decode().split("\0")[:-1]
    assert words_seen == [*expected, "end"]


def _split(pattern: str) -> list[str]:
    return pattern.replace("{", "\0{").replace("}", "}\0").split("\0")


def test_no_files_render_as_nothing() -> None:
    assert CommandTemplate.parse("tool {FILES} -x").render({}) == "tool  -x"


def test_all_supported_placeholders() -> None:
    """Covers the specification's "Render and execute template"."""
    template = CommandTemplate.parse(" ".join(f"{{{name}}}" for name in PLACEHOLDERS))
    assert template.placeholders == set(PLACEHOLDERS)
    values = {name: name.lower() for name in PLACEHOLDERS}
    assert (
        template.render(values, ["/a/b c"])
        == "'prompt' 'guidelines' 'eval_id' 'attempt' '/a/b c' 'output_file'"
    )


@pytest.mark.parametrize(
    "text",
    [
        "echo ${HOME} ${PROMPT} $HOME",
        'curl -d \'{"a": 1, "b": {}}\' x',
        "ls | awk '{print $1}' | xargs -I{} echo {}",
        "cp a.{txt,md} {1..3} ${x:-{}}",
        "jq '{name, total}'",
    ],
)
def test_other_braces_are_left_alone(text: str) -> None:
    assert CommandTemplate.parse(text).render({}) == text


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ("tool {PROMT}", "PROMT", "PROMPT"),
        ("tool {prompt}", "prompt", "PROMPT"),
        ("tool {Promt}", "Promt", "PROMPT"),
        ("tool {file}", "file", "FILES"),
        ("tool {OUTPUT-FILE}", "OUTPUT-FILE", "OUTPUT_FILE"),
        ("tool '{EvalId}'", "EvalId", "EVAL_ID"),
        ("tool {MODEL}", "MODEL", None),
    ],
)
def test_unsupported_placeholders_are_rejected(text: str, name: str, nearest: str | None) -> None:
    """Covers the specification's "Placeholder substitution rules": unsupported ones."""
    (problem,) = template_problems(text, ("command_template",))
    assert problem.code == "unsupported-placeholder"
    assert problem.path == ("command_template",)
    assert problem.message == f"{{{name}}} is not a placeholder"
    known = "{PROMPT}, {GUIDELINES}, {EVAL_ID}, {ATTEMPT}, {FILES}, {OUTPUT_FILE}"
    question = f"did you mean {{{nearest}}}? " if nearest else ""
    assert problem.hint == f"{question}supported are {known}"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("echo \\{PROMPT}", "after a backslash"),
        ('echo "\\{PROMPT}"', "after a backslash"),
        ("echo `cat {PROMPT}`", "inside or after backticks"),
        ('echo "`cat {PROMPT}`"', "inside or after backticks"),
        ("cat <<EOF\n{PROMPT}\nEOF", "inside or after a here-document"),
        ("echo $(({PROMPT} + 1))", "inside or after `$((…))`"),
        ('echo "$((1 + {PROMPT}))"', "inside or after `$((…))`"),
        ("(( x = {PROMPT} ))", "inside or after `((…))`"),
        ("echo $[{PROMPT}]", "inside or after `$[…]`"),
        ("echo ${x:-{PROMPT}}", "inside or after `${…}`"),
        ('echo "${x:-\'} {PROMPT}"', "inside or after `${…}`"),
        ("echo $'{PROMPT}'", "inside or after `$'…'`"),
        ("echo $'it\\'s' '{PROMPT}'", "inside or after `$'…'`"),
        ("echo x # {PROMPT}", "inside a comment"),
        ("echo \\\n# {PROMPT}", "inside a comment"),
        ('echo "$(case x in x) echo {PROMPT};; esac)"', "inside or after `case`"),
        ("echo >&{PROMPT}", "after `>&`"),
        ("list[{PROMPT}]=1", "inside a subscript"),
        ("bash -c 'tool {PROMPT}'", "inside text that another shell reads as code"),
        ('/bin/sh -e -uc "tool {PROMPT}"', "inside text that another shell reads as code"),
        ("eval tool {PROMPT}", "inside text that another shell reads as code"),
        ("tool '{FILES}'", "in quotes or joined to other text"),
        ("tool --file={FILES}", "in quotes or joined to other text"),
        ("tool {FILES}#", "in quotes or joined to other text"),
    ],
)
def test_places_that_no_escaping_makes_safe_are_rejected(text: str, where: str) -> None:
    (problem,) = template_problems(text, ())
    assert problem.code == "unsafe-placeholder"
    assert f"cannot be made safe {where}" in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    "text",
    [
        'bash -c \'tool "$1" > "$2"\' _ {PROMPT} {OUTPUT_FILE}',
        "sh -c 'echo yes > {OUTPUT_FILE}'",
        "cat {FILES}|tool >{OUTPUT_FILE} 2>&1",
        'x=$(cat {FILES}); tool "$x" {PROMPT}',
        "tool <<<{PROMPT}",
        "case {PROMPT} in x) echo '{EVAL_ID}';; esac",
        'echo "$((1 + 2)) ${#x} `date` $\'" a#b {PROMPT}',
        "./run.sh -c {PROMPT}",
    ],
)
def test_ordinary_templates_are_accepted(text: str) -> None:
    assert list(template_problems(text, ())) == []


def test_all_mistakes_are_reported_at_once() -> None:
    problems = list(template_problems("{A} `{PROMPT}` {prompt}", ()))
    assert [problem.code for problem in problems] == [
        "unsupported-placeholder",
        "unsafe-placeholder",
        "unsupported-placeholder",
    ]


def test_a_quote_that_is_not_closed_is_a_mistake() -> None:
    (problem,) = template_problems("echo it's {PROMPT}", ())
    assert problem.code == "unclosed-quote"
    assert "inside single quotes" in problem.message


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_command_is_a_mistake(text: str) -> None:
    (problem,) = template_problems(text, ())
    assert problem.message == "the command is blank"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{name}", "{name} is not a placeholder"),
        ("{PATH}", "{PATH} is not a placeholder"),
        ("--file", "the format names no file"),
        ("`{path}`", "{path} cannot be made safe inside or after backticks (use `$(…)`)"),
        ("{path} # note", "what follows this format would stand inside a comment"),
        ("{path}\\", "what follows this format would stand after a backslash"),
        ("'{path}", "the command ends inside single quotes: a quote is not closed"),
    ],
)
def test_mistakes_in_the_format_of_files(text: str, message: str) -> None:
    first, *_ = files_format_problems(text, ("files_format",))
    assert (first.path, first.message) == (("files_format",), message)


def test_parsing_a_wrong_template_raises() -> None:
    with pytest.raises(AuthorError, match=r"\{FOO\} is not a placeholder; supported are"):
        CommandTemplate.parse("{FOO}")


FRAGMENTS = [
    *("'", '"', "$(", ")", "(", "\\", "`", "#", " ", "\n", "x", "$", "${H}", "${", "$$", "$#"),
    *("$((1+2))", "$((", ";", "|", "<", "<<", "<<<", ">", ">&", "case x in x)", ";;", "esac"),
    *("$'", "[", "]=", "\\\n", "$[", "''", '""', "a#b", "`:`", "$'a'", "}", "{PROMPT}"),
]
PAYLOADS = [
    f"{opening}>pwned{closing}"
    for opening in (
        "\n",
        ";",
        "'\n",
        '"\n',
        "`",
        "$(",
        "';",
        '";',
        "\\';",
        '\\";',
        "\nEOF\n",
        ")\n",
    )
    for closing in ("", " #", "\n#", ")", "`", "'", '"')
] + ["x[$(>pwned)]", "${x:-$(>pwned)}"]


@settings(max_examples=150, deadline=None)
@given(
    before=st.lists(st.sampled_from(FRAGMENTS), max_size=5),
    after=st.lists(st.sampled_from(FRAGMENTS), max_size=3),
    payload=st.sampled_from(PAYLOADS),
)
def test_no_accepted_template_lets_a_value_run_code(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str], payload: str
) -> None:
    """Templates at random, with values that would create a file if they were run."""
    text = "".join([*before, "{PROMPT}", *after])
    if list(template_problems(text, ())):
        return
    command = CommandTemplate.parse(text).render({"PROMPT": payload})
    folder = tmp_path_factory.mktemp("run")
    subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={"PATH": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert not (folder / "pwned").exists()
