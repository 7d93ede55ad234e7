"""What `${{ VAR }}` stands for is never shown, wherever an agent may put it."""

import base64
import json
import urllib.parse

import pytest

from agentv.testing import Outcome, Project
from story import case, command, contains, mock, suite, targets
from terminal import on_terminal

SECRET = 'sk-"quoted"/+tail é'
VARIABLE = "${{ STORY_API_KEY }}"
FORMS = {
    "plain": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "URL": urllib.parse.quote(SECRET, safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode(),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORY_API_KEY", SECRET)


def everything(project: Project, outcome: Outcome) -> str:
    """All that the run printed and all that it left on disk."""
    folders = [project.folder / ".agentv", project.folder / "prompts"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 2
    return "".join([outcome.out, outcome.err, *(file.read_text("utf-8") for file in files)])


def run(project: Project, *options: str) -> str:
    outcome = project.run("eval", "a.eval.yaml", "--dump-prompts", "prompts", *options)
    assert project.rows()
    return everything(project, outcome)


@pytest.mark.parametrize("form", FORMS)
def test_an_agent_that_echoes_it(project: Project, form: str) -> None:
    project.write({"said.txt": f"Your key is {FORMS[form]}, four."})
    agent = command("cat said.txt; : {PROMPT}", env={"API_KEY": VARIABLE}, verbose=True)
    project.write({"a.eval.yaml": suite(case("sum", contains("four")))})
    project.write({"targets.yaml": targets(agent)})
    shown = run(project, "--verbose", "--json")

    assert not [form for form in FORMS.values() if form in shown]
    assert "Your key is " in shown
    assert VARIABLE in shown


def test_an_agent_that_fails_with_it(project: Project) -> None:
    agent = command('echo "401 for $API_KEY" >&2; exit 1', env={"API_KEY": VARIABLE})
    project.write({"a.eval.yaml": suite(case("sum", contains("four")))})
    project.write({"targets.yaml": targets(agent)})
    shown = run(project, "--verbose")

    assert not [form for form in FORMS.values() if form in shown]
    assert "401 for " in shown


def test_a_health_check_that_fails_with_it(project: Project) -> None:
    check = {"type": "command", "command_template": 'echo "no $API_KEY" >&2; exit 1'}
    agent = command("echo four", env={"API_KEY": VARIABLE}, healthcheck=check)
    project.write({"a.eval.yaml": suite(case("sum", contains("four")))})
    project.write({"targets.yaml": targets(agent)})
    outcome = project.run("eval", "a.eval.yaml", "--json")

    assert SECRET not in outcome.out + outcome.err
    assert FORMS["JSON"] not in outcome.out
    assert "Run aborted" in outcome.err


def test_an_agent_that_hangs_with_it(project: Project) -> None:
    agent = command('echo "asked with $API_KEY" >&2; sleep 60', env={"API_KEY": VARIABLE})
    project.write({"a.eval.yaml": suite(case("sum", contains("four")))})
    project.write({"targets.yaml": targets(agent)})
    shown = run(project, "--verbose", "--agent-timeout", "0.2", "--max-retries", "1")

    assert not [form for form in FORMS.values() if form in shown]
    assert "asked with " in shown


def test_a_judge_that_speaks_of_it(project: Project) -> None:
    reply = json.dumps({"score": 0, "misses": [f"no {SECRET}"]}, ensure_ascii=False)
    judge = mock(reply, name="judge", error=VARIABLE, error_rate=0)
    project.write({"a.eval.yaml": suite(case("sum", {"type": "llm_judge"}))})
    project.write({"targets.yaml": targets(mock("four", judge_target="judge"), judge)})
    shown = run(project, "--verbose")

    assert not [form for form in FORMS.values() if form in shown]
    assert '"misses":["no ' in shown


def test_what_an_env_file_calls_a_secret(project: Project) -> None:
    """Commands inherit it, so they may say it, though no target names it."""
    project.write(
        {
            ".env": "SERVICE_TOKEN=tok-123456789\n",
            "a.eval.yaml": suite(case("sum", contains("token"))),
            "targets.yaml": targets(command('echo "token $SERVICE_TOKEN"')),
        }
    )
    shown = run(project)

    assert "tok-123456789" not in shown
    assert "token " in shown


def test_on_a_terminal_while_it_runs(project: Project) -> None:
    agent = command('echo "401 for $API_KEY" >&2; exit 1', env={"API_KEY": VARIABLE})
    project.write({"a.eval.yaml": suite(case("sum", contains("four")))})
    project.write({"targets.yaml": targets(agent)})
    options = ("eval", "a.eval.yaml", "--verbose")
    with on_terminal(project.folder, *options, env={"STORY_API_KEY": SECRET}) as terminal:
        terminal.end()

    assert "401 for " in terminal.text
    assert SECRET not in terminal.text
