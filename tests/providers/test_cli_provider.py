"""The `cli` provider with real commands and real sockets."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from provider_build import NoFiles, provider_build

from agentv.errors import AgentVError, ProviderError, ProviderTimeout, RunAborted
from agentv.model.request import ProviderRequest
from agentv.providers.cli import CliOptions, CliProvider
from agentv.transport.process import Processes
from processes import LIMIT_SECONDS


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files that must be empty again after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def options(command_template: str = "true", **more: Any) -> CliOptions:
    data = {"name": "tool", "provider": "cli", "command_template": command_template, **more}
    return msgspec.convert(data, CliOptions)


def request(question: str = "hello", **more: Any) -> ProviderRequest:
    return ProviderRequest(eval_id="case-1", question=question, **more)


def ask(
    given_options: CliOptions,
    what: ProviderRequest | None = None,
    *,
    folder: Path | None = None,
    notified: list[str] | None = None,
) -> str:
    async def story() -> str:
        async with Processes() as processes:
            build = provider_build(processes, folder=folder, notified=notified)
            return (await CliProvider(given_options, build).respond(what or request())).text

    return asyncio.run(story())


def failure(given_options: CliOptions, what: ProviderRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(given_options, what)
    return caught.value


def prepare(given_options: CliOptions, folder: Path | None = None) -> None:
    async def story() -> None:
        async with Processes() as processes:
            await CliProvider(given_options, provider_build(processes, folder=folder)).prepare()

    asyncio.run(story())


def test_every_placeholder_reaches_the_command() -> None:
    """Covers the specification's "Render and execute template"."""
    template = "printf '%s|' {PROMPT} {GUIDELINES} {EVAL_ID} {ATTEMPT} {FILES} > {OUTPUT_FILE}"
    what = request(
        'what\'s "up"', guidelines="be $kind", attempt=2, input_files=("/a b.md", "/c.md")
    )
    assert ask(options(template), what) == 'what\'s "up"|be $kind|case-1|2|/a b.md|/c.md|'


def test_without_an_output_file_standard_output_is_the_answer() -> None:
    assert ask(options("echo {PROMPT}; echo noise >&2")) == "hello"


def test_files_are_written_in_their_format() -> None:
    template = options("echo {FILES}", files_format="--file={basename}")
    assert ask(template, request(input_files=("/x/a.md", "/x/b.md"))) == "--file=a.md --file=b.md"


def test_a_judge_is_asked_with_its_instructions_first() -> None:
    assert ask(options("echo {PROMPT}"), request(system_prompt="Judge.")) == "Judge.\n\nhello"


@settings(max_examples=15, deadline=None)
@given(text=st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])))
@example(text="'\"`$(touch x)`\\\n")
@example(text="x" * 200_000)
def test_any_prompt_arrives_as_it_is(text: str) -> None:
    answer = ask(options("printf '%s.' {PROMPT} > {OUTPUT_FILE}"), request(text))
    assert answer == f"{text}.".removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (r"a\r\nb\r\n\r\n", "a\nb"),
        (r"\357\273\277text\n", "text"),
        (r"  kept \n\n", "  kept "),
        (r"\377", "\ufffd"),
        ("", ""),
    ],
    ids=["line endings", "byte-order mark", "spaces", "not UTF-8", "empty"],
)
@pytest.mark.parametrize("target", ["", " > {OUTPUT_FILE}"], ids=["stdout", "file"])
def test_answers_are_decoded_alike(written: str, answer: str, target: str) -> None:
    assert ask(options(f"printf '{written}'{target}")) == answer


def test_each_attempt_has_a_fresh_private_file_whatever_the_case_is_called(
    temporary: Path,
) -> None:
    what = ProviderRequest(eval_id="../../etc/$(id)", question="x")
    template = options('ls -ld "$(dirname {OUTPUT_FILE})" > {OUTPUT_FILE}; echo {OUTPUT_FILE}>&2')
    first, second = ask(template, what).split(), ask(template, what).split()
    assert first[0].startswith("drwx------")
    assert Path(first[-1]).parent == temporary
    assert first[-1] != second[-1]


@pytest.mark.parametrize(
    "instead", ["true {OUTPUT_FILE}", "mkfifo {OUTPUT_FILE}", "mkdir {OUTPUT_FILE}"]
)
def test_an_output_file_that_was_not_written(instead: str) -> None:
    error = failure(options(f"{instead}; echo did nothing"))
    assert error.kind == "no_output"
    assert str(error) == "the command succeeded but wrote nothing to {OUTPUT_FILE}"
    assert error.detail == "did nothing"


@pytest.mark.parametrize(
    ("command", "message", "detail"),
    [
        ("echo no; echo a >&2; echo b >&2; exit 3", "failed with exit code 3: b", "a\nb"),
        ("echo only out; exit 1", "failed with exit code 1: only out", "only out"),
        ("exit 4", "failed with exit code 4", None),
        ("kill -TERM $$", "was ended by SIGTERM", None),
        ("sh -c 'kill -KILL $$' 2>/dev/null; exit $?", "failed with exit code 137 (SIGKILL)", None),
    ],
)
def test_a_command_that_fails(command: str, message: str, detail: str | None) -> None:
    """Errors include exit code and stderr, and never the command, which holds the prompt."""
    error = failure(options(f"printf x > {{OUTPUT_FILE}}; : {{PROMPT}}; {command}"))
    assert error.kind == "exit"
    assert str(error) == f"the command {message}"
    assert error.detail == detail


def test_only_the_end_of_long_errors_is_kept() -> None:
    error = failure(options("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1"))
    assert error.detail is not None
    assert len(error.detail) <= 4000
    assert error.detail.endswith("xend")


def test_a_command_that_takes_too_long() -> None:
    error = failure(options("echo so far >&2; : {OUTPUT_FILE}; sleep 60", timeout_seconds=0.5))
    assert isinstance(error, ProviderTimeout)
    assert str(error) == "the command did not end within 0.5 s"
    assert error.detail == "so far"


def test_cancelling_removes_the_output_file(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    async def story() -> None:
        async with Processes() as processes:
            template = f"echo half > {{OUTPUT_FILE}}; : > {shlex.quote(str(begun))}; sleep 60"
            provider = CliProvider(options(template), provider_build(processes))
            task = asyncio.ensure_future(provider.respond(request()))
            async with asyncio.timeout(LIMIT_SECONDS):
                while not begun.exists():  # noqa: ASYNC110 - a process makes it, there is no event
                    await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(story())


def test_a_command_that_cannot_start() -> None:
    error = failure(options("echo {PROMPT}"), request("a\0b"))
    assert error.kind == "spawn"
    assert "NUL" in str(error)


def test_the_working_folder_starts_at_the_targets_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "tool").mkdir(parents=True)
    (tmp_path / "here" / "other").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    project = tmp_path / "project"
    assert ask(options("pwd -P", cwd="tool"), folder=project) == str((project / "tool").resolve())
    assert ask(options("pwd -P", cwd="other"), folder=project) == str(
        (tmp_path / "here" / "other").resolve()
    )


def test_a_working_folder_that_does_not_exist(tmp_path: Path) -> None:
    error = failure(options("pwd", cwd="gone"))
    assert error.kind == "spawn"
    assert str(error) == "the working folder 'gone' does not exist"
    assert str(Path.cwd() / "gone") in (error.detail or "")


def test_the_environment_of_the_target_is_added() -> None:
    assert ask(options('echo "$A-$HOME"', env={"A": "1"})) == f"1-{os.environ['HOME']}"


def test_verbose_shows_the_rendered_command() -> None:
    notified: list[str] = []
    ask(options("echo {PROMPT}", verbose=True), notified=notified)
    assert notified == ["tool: case-1, attempt 1: echo 'hello'"]
    ask(options("echo {PROMPT}"), notified=notified)
    assert len(notified) == 1


# Health checks


def test_without_a_health_check_nothing_is_run() -> None:
    asyncio.run(CliProvider(options("exit 1"), provider_build()).prepare())


def test_a_command_check_that_succeeds(tmp_path: Path) -> None:
    """Covers the specification's "Optional health check"."""
    check = {"type": "command", "command_template": "test -d sub {OUTPUT_FILE}x", "cwd": "."}
    (tmp_path / "sub").mkdir()
    check["command_template"] = "test -d sub && : {PROMPT} {EVAL_ID} > {OUTPUT_FILE}"
    prepare(options(healthcheck=check), folder=tmp_path)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            {"command_template": "echo down >&2; exit 7"},
            "(its command): the command failed with exit code 7: down",
        ),
        (
            {"command_template": "sleep 60", "timeout_seconds": 0.05},
            "(its command): the command did not end within 0.05 s",
        ),
        (
            {"command_template": "true", "cwd": "gone"},
            "(its command): the working folder 'gone' does not exist",
        ),
    ],
)
def test_a_command_check_that_fails_aborts_the_run(check: dict[str, Any], message: str) -> None:
    with pytest.raises(RunAborted) as caught:
        prepare(options(healthcheck={"type": "command", **check}))
    expected = f"The health check of target 'tool' failed {message}"
    assert str(caught.value).startswith(expected)


def check_http(status: int) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        check = {"type": "http", "url": f"http://127.0.0.1:{port}/health"}
        async with server:
            await CliProvider(options(healthcheck=check), provider_build()).prepare()

    asyncio.run(story())


def test_an_http_check_wants_a_good_status() -> None:
    check_http(204)
    with pytest.raises(
        RunAborted, match=r"failed \(GET http://.*\): the answer was HTTP status 503"
    ):
        check_http(503)


def test_an_http_check_without_a_server_aborts_the_run() -> None:
    check = {"type": "http", "url": "http://127.0.0.1:1/health"}
    with pytest.raises(RunAborted, match=r"target 'tool' failed \(GET .*\): no answer: "):
        prepare(options(healthcheck=check))


# Validation


def problems(given_options: CliOptions) -> list[tuple[str, str]]:
    return [
        (".".join(map(str, problem.path)), problem.message)
        for problem in given_options.problems(NoFiles())
    ]


def test_a_whole_target_is_valid() -> None:
    """Covers the specification's "Required template fields" and "Health check schema"."""
    check = {"type": "http", "url": "https://localhost/health", "timeout_seconds": 3}
    whole = options(
        "tool {PROMPT} {FILES}",
        files_format="-f {path}",
        cwd="x",
        timeout_seconds=5,
        verbose=True,
        healthcheck=check,
    )
    assert problems(whole) == []
    check = {"type": "command", "command_template": "tool --version", "cwd": "x"}
    assert problems(options(healthcheck=check)) == []


@pytest.mark.parametrize(
    ("given_options", "found"),
    [
        (options(" "), [("command_template", "the command is blank")]),
        (options("x {PROMT}"), [("command_template", "{PROMT} is not a placeholder")]),
        (options(files_format="{x}"), [("files_format", "{x} is not a placeholder")]),
        (
            options(healthcheck={"type": "command", "url": "http://x", "command_template": "t"}),
            [("healthcheck.url", "`url` means nothing to a health check of type 'command'")],
        ),
        (
            options(healthcheck={"type": "http"}),
            [("healthcheck", "a health check of type 'http' needs `url`")],
        ),
        (
            options(healthcheck={"type": "http", "url": "localhost:80"}),
            [("healthcheck.url", "'localhost:80' is not the address of a web service")],
        ),
        (
            options(healthcheck={"type": "http", "url": "http://x:99999"}),
            [("healthcheck.url", "'http://x:99999' is not the address of a web service")],
        ),
        (
            options(healthcheck={"type": "command", "command_template": "t {FILE}"}),
            [("healthcheck.command_template", "{FILE} is not a placeholder")],
        ),
    ],
)
def test_mistakes_are_found_with_their_places(
    given_options: CliOptions, found: list[tuple[str, str]]
) -> None:
    assert problems(given_options) == found


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"healthcheck": {"type": "tcp"}}, "Invalid enum value 'tcp' - at `$.healthcheck.type`"),
        ({"healthcheck": {"type": "http", "x": 1}}, "unknown field `x` - at `$.healthcheck`"),
        ({"command": "x"}, "unknown field `command`"),
        ({"timeout_seconds": 0}, "`$.timeout_seconds`"),
    ],
)
def test_types_are_checked(more: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        options(**more)
    assert message in str(caught.value)


def test_a_provider_from_wrong_options_is_refused() -> None:
    with pytest.raises(AgentVError, match="is not a placeholder"):
        CliProvider(options("{FOO}"), provider_build())


@pytest.mark.parametrize("where", ["", " > {OUTPUT_FILE}"], ids=["stdout", "file"])
def test_an_answer_that_is_too_large_is_an_error(where: str) -> None:
    """A cut answer could pass or fail for what is missing from it."""
    error = failure(options(f"head -c 33600000 /dev/zero | tr '\\0' x{where}"))
    assert (error.kind, str(error)) == ("too_large", "the answer is larger than 32 MB")
