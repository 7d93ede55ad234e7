"""The `vscode` provider before a stand-in that keeps the subagent protocol."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from vscode_build import provider, provisioned, request

import vscode_stand_in
from agentv.errors import AuthorError, ProviderError, ProviderTimeout, SetupError
from agentv.model.request import ProviderResponse
from agentv.transport.process import Processes
from virtual_time import run_virtually
from vscode_stand_in import InProcess


def virtually(folder: Path, *what: Any, knobs: dict[str, Any] | None = None, **more: Any) -> Any:
    """The answers to requests that are sent together, in virtual time."""
    stand_in = vscode_stand_in.install(folder, **(knobs or {}))
    asked = provider(folder, InProcess(stand_in), **more)

    async def story() -> list[ProviderResponse | BaseException]:
        return await asyncio.gather(*map(asked.respond, what), return_exceptions=True)

    found = run_virtually(story())
    return found[0] if len(what) == 1 else found


def really(folder: Path, story: Any, **more: Any) -> Any:
    """What a story makes of a provider whose `code` is a program."""

    async def run() -> Any:
        async with Processes() as processes:
            return await story(provider(folder, processes, **more))

    return asyncio.run(run())


def test_a_request_goes_through_a_worker_of_its_own(tmp_path: Path) -> None:
    """Scenario "VS Code provider": preread links, the request file, the answer's file."""
    guide, notes = tmp_path / "be brief.md", tmp_path / "notes.md"
    vscode_stand_in.install(tmp_path)
    [worker] = provisioned(tmp_path, 1)
    what = request(
        "Sum up `notes.md`.",
        guideline_paths=(str(guide),),
        input_files=(str(guide), str(notes)),
    )
    answer = really(tmp_path, lambda asked: asked.respond(what))
    assert answer.text == "You asked: Sum up `notes.md`."

    [file] = worker.messages.glob("*_req.md")
    written = file.read_text()
    assert f"* [be brief.md]({guide.as_uri()})" in written
    assert f"* [notes.md]({notes.as_uri()})" in written
    assert "Sum up `notes.md`." in written
    opened, woken, asked = vscode_stand_in.StandIn(tmp_path / "code-state").calls()
    assert opened == [str(worker.workspace)]
    assert woken[:4] == ["-r", "chat", "-m", "wakeup"]
    assert asked[:4] == ["-r", "chat", "-m", "agent"]
    assert asked[4:10] == ["-a", str(file), "-a", str(guide), "-a", str(notes)]
    assert asked[10] == f"Follow the instructions in [{file.name}]({file.as_uri()})."
    assert not worker.lock.exists()


def test_a_window_that_is_open_and_awake_is_not_woken_again(tmp_path: Path) -> None:
    stand_in = vscode_stand_in.install(tmp_path)
    asked = provider(tmp_path, InProcess(stand_in))

    async def story() -> None:
        await asked.respond(request("one"))
        await asked.respond(request("two"))

    run_virtually(story())
    modes = [call[3] for call in stand_in.calls() if call[:2] == ["-r", "chat"]]
    assert modes == ["wakeup", "agent", "agent"]


def test_a_window_of_the_same_name_elsewhere_is_not_taken_for_ours(tmp_path: Path) -> None:
    """The status names windows, not their folders; `subagent-12` is not `subagent-1` either."""
    stand_in = vscode_stand_in.install(tmp_path)
    (stand_in.folder / "windows").write_text("/else/subagent-1.code-workspace\n")
    run_virtually(provider(tmp_path, InProcess(stand_in)).respond(request()))
    assert [call[3] for call in stand_in.calls()[1:]] == ["wakeup", "agent"]

    [worker] = (tmp_path / "workers").glob("subagent-1")
    assert (worker / ".alive").exists()
    (stand_in.folder / "windows").write_text("/else/subagent-12.code-workspace\n")
    before = len(stand_in.calls())
    run_virtually(provider(tmp_path, InProcess(stand_in)).respond(request()))
    assert [call[3] for call in stand_in.calls()[before + 1 :]] == ["wakeup", "agent"]


def test_a_vscode_that_gives_no_status_is_woken(tmp_path: Path) -> None:
    assert virtually(tmp_path, request("hi"), knobs={"no_status": True}).text == "You asked: hi"


def test_twelve_at_once_on_three_workers_share_nothing(tmp_path: Path) -> None:
    """No two are in a worker at the same time, have a file in common, or get another's answer."""
    vscode_stand_in.install(tmp_path, delay=0.05)
    provisioned(tmp_path, 3)
    warned: list[str] = []

    async def story(asked: Any) -> list[ProviderResponse]:
        twelve = (asked.respond(request(f"number {n}")) for n in range(12))
        return list(await asyncio.gather(*twelve))

    answers = really(tmp_path, story, warned=warned)
    assert [answer.text for answer in answers] == [f"You asked: number {n}" for n in range(12)]
    assert not (tmp_path / "code-state" / "crossed").exists()
    calls = vscode_stand_in.StandIn(tmp_path / "code-state").calls()
    files = [call[5] for call in calls if call[:4] == ["-r", "chat", "-m", "agent"]]
    assert len(set(files)) == 12
    assert {Path(file).parent.parent.name for file in files} == {
        *("subagent-1", "subagent-2", "subagent-3")
    }
    assert not list(tmp_path.glob("workers/*/subagent.lock"))
    assert warned == [
        "target 'editor': 3 VS Code workers for 4 requests at a time, so some wait; "
        "`agentv vscode provision --subagents 4 --root workers` makes more"
    ]


def test_two_runs_share_the_workers_of_one_root(tmp_path: Path) -> None:
    """Two providers know nothing of each other but what is on disk."""
    stand_in = vscode_stand_in.install(tmp_path, delay=1)
    provisioned(tmp_path, 2)
    runs = [provider(tmp_path, InProcess(stand_in)) for _ in range(2)]

    async def story() -> list[ProviderResponse]:
        return await asyncio.gather(
            *(run.respond(request(f"{place} {n}")) for place, run in enumerate(runs) for n in "ab")
        )

    answers = run_virtually(story())
    assert [answer.text[-3:] for answer in answers] == ["0 a", "0 b", "1 a", "1 b"]
    assert not (stand_in.folder / "crossed").exists()


def test_the_first_worker_is_made_where_there_is_none(tmp_path: Path) -> None:
    told: list[str] = []
    virtually(tmp_path, request(), warned=told)
    assert told == [f"made the first VS Code worker, {tmp_path}/workers/subagent-1"]


def test_waiting_for_a_worker_of_ours_is_no_time_out(tmp_path: Path) -> None:
    """Five in a row take five times as long as one may."""
    found = virtually(
        tmp_path, *(request(str(n)) for n in range(5)), knobs={"delay": 8}, timeout_seconds=10
    )
    assert [answer.text for answer in found] == [f"You asked: {n}" for n in range(5)]


def test_waiting_for_somebody_elses_worker_has_a_limit(tmp_path: Path) -> None:
    """The npm tool's lock is an empty file."""
    [worker] = provisioned(tmp_path, 1)
    worker.lock.touch()
    error = virtually(tmp_path, request(), timeout_seconds=20)
    assert isinstance(error, ProviderError)
    assert error.kind == "busy"
    assert str(error) == (
        "no VS Code worker became free within 20 s: subagent-1 by another program; "
        "`agentv vscode list --root workers` shows them"
    )
    assert worker.lock.exists()


def test_another_machines_lock_is_not_taken_for_ours(tmp_path: Path) -> None:
    """Process numbers are the same in every container: waiting must end all the same."""
    [worker] = provisioned(tmp_path, 1)
    owner = {"owner": "agentv", "pid": os.getpid(), "host": "elsewhere", "started": 1.0}
    worker.lock.write_text(json.dumps({**owner, "token": "t", "claimed": "2026-01-01T00:00:00Z"}))
    error = virtually(tmp_path, request(), timeout_seconds=20)
    assert isinstance(error, ProviderError)
    assert f"subagent-1 by process {os.getpid()} on elsewhere" in str(error)


def test_an_agent_that_never_answers_is_a_time_out(tmp_path: Path) -> None:
    error = virtually(tmp_path, request(), knobs={"never_answers": True}, timeout_seconds=30)
    assert isinstance(error, ProviderTimeout)
    assert str(error) == "no answer within 30 s"
    assert "Look at the window of subagent-1" in str(error.detail)
    assert not list(tmp_path.glob("workers/*/subagent.lock"))


def test_an_agent_that_never_wakes_is_a_time_out_that_says_what_to_look_at(tmp_path: Path) -> None:
    error = virtually(tmp_path, request(), knobs={"never_wakes": True}, wakeup_timeout_seconds=40)
    assert isinstance(error, ProviderTimeout)
    assert str(error) == "VS Code's agent did not wake up within 40 s"
    assert "sign in" in str(error.detail)
    assert not list(tmp_path.glob("workers/*/subagent.lock"))


def test_an_answer_is_read_once_it_is_whole(tmp_path: Path) -> None:
    """Half a file is no answer."""
    answer = virtually(tmp_path, request("whole"), knobs={"delay": 1, "half": 0.01})
    assert answer.text == "You asked: whole"


def test_an_empty_file_is_no_answer(tmp_path: Path) -> None:
    error = virtually(tmp_path, request(), knobs={"answer": ""}, timeout_seconds=5)
    assert isinstance(error, ProviderTimeout)


def test_line_endings_and_a_byte_order_mark_are_not_part_of_an_answer(tmp_path: Path) -> None:
    answer = virtually(tmp_path, request(), knobs={"answer": "\ufeffone\r\ntwo\r\n"})
    assert answer.text == "one\ntwo"


def test_an_agent_that_cannot_open_a_file_says_so(tmp_path: Path) -> None:
    error = virtually(tmp_path, request(), knobs={"answer": "ERROR: missing-file notes.md\n"})
    assert isinstance(error, ProviderError)
    assert (str(error), error.kind) == ("the agent could not open 'notes.md'", "missing_file")


def test_a_vscode_that_fails_is_quoted(tmp_path: Path) -> None:
    error = virtually(tmp_path, request(), knobs={"crash": True})
    assert str(error) == f"'{tmp_path}/code' failed with exit code 9"
    assert isinstance(error, ProviderError)
    assert error.detail == "the window could not be opened"


def test_cancelling_gives_the_worker_back(tmp_path: Path) -> None:
    stand_in = vscode_stand_in.install(tmp_path, never_answers=True)
    asked = provider(tmp_path, InProcess(stand_in))
    [worker] = provisioned(tmp_path, 1)

    async def story() -> None:
        task = asyncio.ensure_future(asked.respond(request()))
        await asyncio.sleep(60)
        assert worker.lock.exists()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtually(story())
    assert not worker.lock.exists()


def test_a_judges_instructions_stand_above_its_query(tmp_path: Path) -> None:
    virtually(tmp_path, request("Judge this.", system_prompt="You are a judge."))
    [file] = tmp_path.glob("workers/subagent-1/messages/*_req.md")
    assert file.read_text().index("You are a judge.") < file.read_text().index("Judge this.")


def test_no_text_of_a_case_reaches_a_path_or_a_command_line(tmp_path: Path) -> None:
    """Neither its id nor its question; both only go into the request's file."""
    evil = "../../$(touch evil); `touch evil` \"'\n--new-window"
    stand_in = vscode_stand_in.install(tmp_path)
    asked = provider(tmp_path, InProcess(stand_in))
    answer = run_virtually(asked.respond(request(evil, eval_id=evil)))
    assert answer.text == f"You asked: {evil}"
    assert "evil" not in str(stand_in.calls())


def test_the_window_stays_open_when_the_run_ends(tmp_path: Path) -> None:
    """The editor is the person's, and no part of the process tree that a run must end."""
    import psutil

    stand_in = vscode_stand_in.install(tmp_path, opens_a_process=True)
    answer = really(tmp_path, lambda asked: asked.respond(request("hi")))
    editor = psutil.Process(int((stand_in.folder / "editor.pid").read_text()))
    try:
        assert answer.text == "You asked: hi"
        assert editor.status() != psutil.STATUS_ZOMBIE
        assert "AGENTV_COOKIE" not in editor.environ()
    finally:
        editor.kill()


def test_a_command_line_that_never_comes_back_is_a_time_out(tmp_path: Path) -> None:
    """As with the editor's own program, which stays in the foreground."""
    vscode_stand_in.install(tmp_path, hangs=True)

    async def story() -> None:
        from agentv.providers.vscode.editor import Editor, Timing

        [worker] = provisioned(tmp_path, 1)
        async with Processes() as processes:
            timing = Timing(status=0.2, command=0.2, opening=0.2, focus=0)
            editor = Editor(
                executable=str(tmp_path / "code"), env={}, processes=processes, timing=timing
            )
            with pytest.raises(ProviderTimeout, match=r"did not come back within 0\.2 s; it must"):
                await editor.make_ready(worker, within=1)

    asyncio.run(story())


def test_a_dry_run_says_what_would_be_used_and_touches_nothing(tmp_path: Path) -> None:
    """Scenario "VS Code provider": dry-run metadata without text; not even VS Code is needed."""
    answer = run_virtually(
        provider(tmp_path, InProcess(vscode_stand_in.StandIn(tmp_path)), dry_run=True).respond(
            request()
        )
    )
    assert (answer.text, answer.dry_run) == ("", True)
    [would] = answer.trace or []
    worker = tmp_path / "workers" / "subagent-1"
    assert would["executable"] == "code"
    assert would["worker"] == "subagent-1"
    assert would["workspace"] == str(worker / "subagent-1.code-workspace")
    assert Path(would["response_file"]).parent == worker / "messages"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "program", "where"),
    [
        ({}, "code", " on PATH"),
        ({"provider": "vscode-insiders"}, "code-insiders", " on PATH"),
        ({"executable": "bin/code"}, "{folder}/bin/code", ""),
    ],
    ids=["vscode", "insiders", "a path"],
)
def test_a_missing_executable_says_how_to_get_it(
    tmp_path: Path, more: dict[str, Any], program: str, where: str
) -> None:
    stand_in = vscode_stand_in.StandIn(tmp_path)
    with pytest.raises(SetupError) as caught:
        provider(tmp_path, InProcess(stand_in), **more)
    text = str(caught.value)
    assert f"no program '{program.format(folder=tmp_path)}'{where}. Install VS Code" in text
    assert "Shell Command: Install 'code" in text
    assert text.endswith("or say with `executable` where the program is.")


def test_a_broken_workspace_template_is_found_before_the_first_case(tmp_path: Path) -> None:
    stand_in = vscode_stand_in.install(tmp_path)
    (tmp_path / "own.code-workspace").write_text('{\n  "folders": [x]\n}')
    with pytest.raises(AuthorError, match=r"own\.code-workspace:2:15  not a workspace file"):
        provider(tmp_path, InProcess(stand_in), workspace_template="own.code-workspace")


def test_the_template_is_opened_beside_the_workers_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    virtually(tmp_path, request(), workspace_template="project")
    text = (tmp_path / "workers/subagent-1/subagent-1.code-workspace").read_text()
    assert f'"path": "{project}"' in text
