"""Targets files: found, checked whole, and asked for one target at a time."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from loaded import CASE, MOCK, lines, load, said, suite, targets

from agentv.loading.targets import ResolvedTarget, Targets, find_targets_file, load_targets
from agentv.model.problem import LoadError
from agentv.providers.cli import CliOptions
from agentv.providers.mock import MockOptions
from agentv.registry import Registry
from agentv.testing import Project

PROVIDERS = ", ".join(Registry().names("providers"))

SECRET = "sk-0123456789"
FOLDERS = ("evals/deep", "evals", ".")
NAMES = ("targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml")


def problems(project: Project, text: str) -> list[str]:
    """What is wrong with a targets file, whatever the environment."""
    return lines(targets(project, text).problems, project.folder)


def resolved(found: Targets, name: str = "default", **env: str) -> ResolvedTarget:
    """A target that can be resolved."""
    target, problems = found.resolve(name, env)
    assert not problems, problems
    assert target is not None
    return target


def refused(found: Targets, name: str = "default", **env: str) -> list[str]:
    """Why a target cannot be resolved."""
    target, problems = found.resolve(name, env)
    assert target is None
    return [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("targets: []\n", ["targets.yaml:1:10  targets  must not be empty"]),
        ("target: []\n", ["targets.yaml:1:1  target  unknown key 'target'; "
                          "did you mean 'targets'?",
                          "targets.yaml:1:9  target  must not be empty"]),
        ("- name: a\n", ["targets.yaml:1:1  expected a mapping, found a list"]),
        (
            "$schema: agentv-targets-v1\n" + MOCK,
            [
                "targets.yaml:1:10  $schema  unknown $schema 'agentv-targets-v1'; "
                "did you mean 'agentv-targets-v2.1'? "
                "one of agentv-targets-v2, agentv-targets-v2.1, agentv-targets-v2.2"
            ],
        ),
        (
            MOCK + "  - mock\n",
            ["targets.yaml:3:5  targets[1]  expected a mapping, found the text 'mock'"],
        ),
        (
            MOCK + "  - {provider: mock, response: hi}\n",
            ["targets.yaml:3:5  targets[1]  the target has no name; add `name: …`"],
        ),
        (
            MOCK + "  - {name: 5, provider: mock, response: hi}\n",
            ["targets.yaml:3:12  targets[1].name  a target's name is text; write a name"],
        ),
        (
            MOCK + "  - {name: default, provider: mock, response: ho}\n",
            ["targets.yaml:3:12  targets[1].name  two targets are called 'default'; rename one"],
        ),
        (
            "targets:\n  - {name: default}\n",
            [
                "targets.yaml:2:5  targets[0]  target 'default' has no provider; "
                "add `provider: …`, one of " + PROVIDERS
            ],
        ),
        (
            "targets:\n  - {name: default, provider: mokc}\n",
            [
                "targets.yaml:2:31  targets[0].provider  unknown provider 'mokc'; "
                "did you mean 'mock'?"
            ],
        ),
        (
            "targets:\n  - {name: default, provider: azur}\n",
            [
                "targets.yaml:2:31  targets[0].provider  unknown provider 'azur'; "
                "did you mean 'azure'?"
            ],
        ),
        (
            "targets:\n  - {name: default, provider: [mock]}\n",
            [
                "targets.yaml:2:31  targets[0].provider  "
                "a provider is the name of one, without variables; one of " + PROVIDERS
            ],
        ),
        (
            MOCK.replace("}", ", judge_target: defualt}"),
            [
                "targets.yaml:2:65  targets[0].judge_target  unknown target 'defualt'; "
                "did you mean 'default'?"
            ],
        ),
        (
            MOCK.replace("}", ", judge_target: '${{ JUDGE }}'}"),
            [
                "targets.yaml:2:65  targets[0].judge_target  `judge_target` takes no variable; "
                "write the name of a target; its settings may hold variables"
            ],
        ),
        (
            MOCK.replace("hi", "'${{ GREET-ING }}'"),
            [
                "targets.yaml:2:47  targets[0].response  "
                "'${{ GREET-ING }}' does not name a variable; "
                "write ${{ NAME }} with letters, digits and underscores"
            ],
        ),
        (
            MOCK.replace("hi", "'Hello ${{ NAME }'"),
            [
                "targets.yaml:2:47  targets[0].response  '${{ NAME }' has no end; "
                "close it with `}}`"
            ],
        ),
    ],
    ids=[
        *("no targets", "misspelt", "a list", "schema", "target as text", "no name"),
        *("name of a wrong kind", "same name", "no provider", "unknown provider"),
        *("nearly one elsewhere", "provider of a wrong kind", "unknown judge", "judge in variable"),
        *("bad variable", "open variable"),
    ],
)  # fmt: skip
def test_mistakes_in_a_targets_file(project: Project, text: str, expected: list[str]) -> None:
    assert problems(project, text) == expected


def test_all_mistakes_of_a_targets_file_are_found_at_once(project: Project) -> None:
    text = """\
targets:
  - {name: default, provder: mock, respnse: hi, workers: 0}
  - {name: default, provider: cli}
  - {nmae: other, provider: mock, judge_target: defualt}
  - {name: third, provider: mokc}
"""
    assert [line.split("  ")[:2] for line in problems(project, text)] == [
        ["targets.yaml:2:21", "targets[0].provder"],
        ["targets.yaml:2:36", "targets[0].respnse"],
        ["targets.yaml:2:58", "targets[0].workers"],
        ["targets.yaml:3:5", "targets[1].command_template"],
        ["targets.yaml:3:12", "targets[1].name"],
        ["targets.yaml:4:5", "targets[2]"],
        ["targets.yaml:4:6", "targets[2].nmae"],
        ["targets.yaml:4:49", "targets[2].judge_target"],
        ["targets.yaml:5:29", "targets[3].provider"],
    ]


def test_a_name_that_may_be_among_the_mistakes_is_not_called_unknown(project: Project) -> None:
    """With a target that has no name, nobody knows which names there are."""
    project.write({"targets.yaml": MOCK + "  - {provider: mock, response: hi}\n"})
    project.write({"a.eval.yaml": f"target: other\nevalcases:\n{CASE}"})
    assert said(project) == ["targets.yaml:3:5  targets[1]  the target has no name; add `name: …`"]


def test_required_template_fields(project: Project) -> None:
    """Scenario "Required template fields": a template is needed, the rest is optional."""
    full = """\
targets:
  - name: default
    provider: cli
    commandTemplate: cat {FILES}
    filesFormat: "-f {path}"
    cwd: .
    timeoutSeconds: 5
    verbose: true
    healthcheck: {type: http, url: http://127.0.0.1/}
"""
    options = resolved(targets(project, full)).options
    assert isinstance(options, CliOptions)
    assert (options.command_template, options.files_format) == ("cat {FILES}", "-f {path}")
    assert (options.cwd, options.timeout_seconds, options.verbose) == (".", 5, True)
    assert problems(project, "targets:\n  - {name: default, provider: cli}\n") == [
        "targets.yaml:2:5  targets[0].command_template  the key 'command_template' is missing"
    ]
    (blank,) = problems(
        project, "targets:\n  - {name: default, provider: cli, commandTemplate: ''}\n"
    )
    assert blank.startswith("targets.yaml:2:53  targets[0].commandTemplate  ")
    (other,) = problems(project, full.replace("verbose: true", "model: x"))
    assert other.startswith("targets.yaml:8:5  targets[0].model  unknown key 'model'; one of name,")


@pytest.mark.parametrize(
    ("check", "is_valid"),
    [
        ("{type: http, url: http://127.0.0.1/, timeoutSeconds: 1}", True),
        ("{type: command, commandTemplate: 'true', cwd: ., timeout_seconds: 1}", True),
        ("{type: tcp, url: http://127.0.0.1/}", False),
        ("{type: http}", False),
        ("{type: command, url: http://127.0.0.1/}", False),
        ("{url: http://127.0.0.1/}", False),
        ("http://127.0.0.1/", False),
    ],
)
def test_health_check_schema(project: Project, check: str, is_valid: bool) -> None:
    """Scenario "Health check schema": two kinds, each with its keys, and no other."""
    text = f"""\
targets:
  - {{name: default, provider: cli, command_template: cat, healthcheck: {check}}}
"""
    found = problems(project, text)
    assert (found == []) is is_valid
    assert all("  targets[0].healthcheck" in line for line in found)


def test_variables_in_every_kind_of_value(project: Project) -> None:
    """They stand for text, numbers and booleans, alone or within a text, at any depth."""
    text = """\
targets:
  - name: default
    provider: cli
    command_template: "${{ TOOL }} --fast {PROMPT} ${{TOOL}}"
    timeout_seconds: ${{ SECONDS }}
    workers: ${{ WORKERS }}
    verbose: ${{ VERBOSE }}
    prompt_mode: ${{ MODE }}
    env: {A: "${{ TOOL }}"}
    healthcheck: {type: command, command_template: "${{ TOOL }}", timeout_seconds: "${{ SECONDS }}"}
"""
    found = targets(project, text)
    assert found.problems == []
    env = {"TOOL": "run", "SECONDS": "1.5", "WORKERS": " 4 ", "VERBOSE": "true", "MODE": "agent"}
    options = resolved(found, **env).options
    assert isinstance(options, CliOptions)
    assert options.command_template == "run --fast {PROMPT} run"
    assert (options.timeout_seconds, options.workers, options.verbose) == (1.5, 4, True)
    assert (options.prompt_mode, options.env) == ("agent", {"A": "run"})
    assert options.healthcheck is not None
    assert options.healthcheck.timeout_seconds == 1.5


def test_variables_in_lists(project: Project) -> None:
    text = """\
targets:
  - name: default
    provider: mock
    replies: ["${{ A }}", {response: "${{ A }}", delay_ms: "${{ MS }}"}]
"""
    found = targets(project, text)
    assert found.problems == []
    options = resolved(found, A="text", MS="5").options
    assert isinstance(options, MockOptions)
    assert msgspec.to_builtins(options.replies) == [
        "text",
        {"response": "text", "error": None, "timeout": False, "delay_ms": 5.0},
    ]


@pytest.mark.parametrize(
    ("key", "value", "env", "expected"),
    [
        (
            "response",
            "${{ GREETING }}",
            {},
            "the variable GREETING is not set, and target 'default' needs it for 'response'; "
            "set it in the environment or in a .env file: GREETING=…",
        ),
        (
            "response",
            "${{ GREETING }}",
            {"GREETING": ""},
            "the variable GREETING is empty, and target 'default' needs it for 'response'; "
            "set it in the environment or in a .env file: GREETING=…",
        ),
        (
            "response",
            "${{ GREETING }}",
            {"GREETNG": "hi"},
            "the variable GREETING is not set, and target 'default' needs it for 'response'; "
            "did you mean 'GREETNG'?",
        ),
        (
            "workers",
            "${{ WORKERS }}",
            {"WORKERS": "four"},
            "expected a whole number, found the text '${{ WORKERS }}'",
        ),
        (
            "workers",
            "${{ WORKERS }}",
            {"WORKERS": "0"},
            "the number 0 is out of range; write a whole number of at least 1",
        ),
        (
            "prompt_mode",
            "${{ MODE }}",
            {"MODE": "chat"},
            "unknown prompt_mode '${{ MODE }}'; one of lm, agent",
        ),
    ],
    ids=["unset", "empty", "misspelt", "no number", "out of range", "no choice"],
)
def test_variables_that_do_not_fit(
    project: Project, key: str, value: str, env: dict[str, str], expected: str
) -> None:
    """The problem is at the value; what the variable holds is not shown, since it may be secret."""
    rest = "" if key == "response" else "    response: hi\n"
    text = f"targets:\n  - name: default\n    provider: mock\n    {key}: {value}\n{rest}"
    found = targets(project, text)
    assert found.problems == []
    (line,) = refused(found, **env)
    column = len(key) + 7
    assert line == f"targets.yaml:4:{column}  targets[0].{key}  {expected}"


def test_one_unset_variable_does_not_hide_another(project: Project) -> None:
    text = MOCK.replace("hi", "'${{ A }} ${{ B }}', workers: '${{ C }}', timeouts: -1")
    found = targets(project, text)
    assert [line.split("; ")[0] for line in refused(found)] == [
        "targets.yaml:2:47  targets[0].response  "
        "the variable A is not set, and target 'default' needs it for 'response'",
        "targets.yaml:2:47  targets[0].response  "
        "the variable B is not set, and target 'default' needs it for 'response'",
        "targets.yaml:2:77  targets[0].workers  "
        "the variable C is not set, and target 'default' needs it for 'workers'",
        "targets.yaml:2:99  targets[0].timeouts  the number -1 is out of range",
    ]


def test_a_secret_is_never_part_of_a_message(project: Project) -> None:
    """Not even where the value is what is wrong."""
    text = """\
targets:
  - name: default
    provider: cli
    command_template: "cat {PROMPT} ${{ API_KEY }}"
    workers: ${{ API_KEY }}
    prompt_mode: ${{ API_KEY }}
    healthcheck: {type: http, url: "${{ API_KEY }}"}
"""
    found = refused(targets(project, text), API_KEY="{sk}-" + "0123456789" * 10)
    assert len(found) == 3
    assert not any("0123" in line for line in found)


def test_settings_are_as_written_and_secrets_apart(project: Project) -> None:
    text = """\
targets:
  - name: default
    provider: cli
    command_template: "${{ TOOL }} {PROMPT}"
    cwd: ${{ FOLDER }}
    env:
      API_KEY: literal-secret
      MODEL_TOKEN: ${{ API_KEY }}
      PLAIN: text
    workers: 2
"""
    env = {"TOOL": "/opt/tool", "FOLDER": "/tmp", "API_KEY": SECRET}
    target = resolved(targets(project, text), **env)
    assert target.settings == {
        "provider": "cli",
        "command_template": "${{ TOOL }} {PROMPT}",
        "cwd": "${{ FOLDER }}",
        "env": {
            "API_KEY": "[redacted]",
            "MODEL_TOKEN": "${{ API_KEY }}",
            "PLAIN": "text",
        },
        "workers": 2,
    }
    assert target.secrets == {
        "TOOL": "/opt/tool",
        "API_KEY": SECRET,
        "default.env.API_KEY": "literal-secret",
    }
    options: Any = target.options
    assert options.env["MODEL_TOKEN"] == SECRET


def test_passwords_in_addresses_and_headers_are_secrets_too(project: Project) -> None:
    """A service may repeat the part of a value that it looks at."""
    text = """\
targets:
  - name: default
    provider: openai
    model: m
    base_url: https://me:hunter22@llm.example/v1
    headers:
      Authorization: Bearer sk-one-two
      X-Proxy: ${{ PROXY }}
      X-Plain: "see http://{user}:{word}@host"
  - {name: b, provider: openai, model: m, base_url: "${{ HOME_URL }}"}
"""
    found = targets(project, text)
    target = resolved(found, PROXY="https://me:seven777@proxy")
    assert target.settings["base_url"] == "https://me:[redacted]@llm.example/v1"
    assert target.settings["headers"]["Authorization"] == "[redacted]"
    assert target.secrets == {
        "PROXY": "https://me:seven777@proxy",
        "default.base_url": "hunter22",
        "default.headers.Authorization": "Bearer sk-one-two",
        "default.headers.Authorization token": "sk-one-two",
    }
    home = resolved(found, "b", HOME_URL="http://you:wide-open@home")
    assert home.secrets == {"HOME_URL": "wide-open"}


@pytest.mark.parametrize(
    ("key", "name", "is_secret"),
    [
        ("cwd", "FOLDER", False),
        ("cwd", "MY_API_KEY", True),
        ("command_template", "TOOL", True),
    ],
)
def test_a_variable_is_public_only_if_both_key_and_name_are(
    project: Project, key: str, name: str, is_secret: bool
) -> None:
    values = {"command_template": "cat", key: f"${{{{ {name} }}}}"}
    rest = "".join(f", {own}: '{value}'" for own, value in values.items())
    found = targets(project, f"targets:\n  - {{name: default, provider: cli{rest}}}\n")
    assert (name in resolved(found, **{name: "some value"}).secrets) is is_secret


def test_the_same_key_of_two_targets_is_two_secrets(project: Project) -> None:
    text = """\
targets:
  - {name: a, provider: cli, command_template: cat, env: {API_KEY: first}}
  - {name: b, provider: cli, command_template: cat, env: {API_KEY: second}}
"""
    found = targets(project, text)
    assert {**resolved(found, "a").secrets, **resolved(found, "b").secrets} == {
        "a.env.API_KEY": "first",
        "b.env.API_KEY": "second",
    }


def test_a_secret_in_plain_text_is_a_warning(project: Project) -> None:
    text = """\
targets:
  - {name: default, provider: gemini, apiKey: sk-0123}
  - {name: other, provider: codex, settings: {env: {MY_TOKEN: abcd, KEY: "${{ KEY }}"}}}
"""
    found = targets(project, text)
    assert found.problems == []
    warnings = found.warnings()
    assert {problem.severity for problem in warnings} == {"warning"}
    hint = "write ${{ NAME }} and set the variable in the environment or in .env"
    assert [str(problem) for problem in warnings] == [
        f"targets.yaml:2:47  targets[0].apiKey  'api_key' holds a secret in plain text; {hint}",
        "targets.yaml:3:63  targets[1].settings.env.MY_TOKEN  "
        f"'MY_TOKEN' holds a secret in plain text; {hint}",
    ]


def test_the_digest_is_of_what_shapes_answers(project: Project) -> None:
    """Not of names, secrets or the number of workers; both spellings of a key are one."""

    def digest(rest: str, name: str = "default") -> str:
        text = f"targets:\n  - {{name: {name}, provider: cli, {rest}}}\n"
        return resolved(targets(project, text), name).digest

    plain = digest("command_template: cat")
    assert digest("commandTemplate: cat", name="other") == plain
    assert digest("command_template: cat, workers: 5, judge_target: default") == plain
    assert digest("command_template: tac") != plain
    with_key = digest("command_template: cat, env: {API_KEY: first}")
    assert digest("command_template: cat, env: {API_KEY: second}") == with_key != plain
    assert digest("command_template: cat, prompt_mode: agent") != plain


def test_the_digest_knows_which_model_a_variable_names(project: Project) -> None:
    """Other variables count by their names: a folder may lie elsewhere, and keys are secret."""
    text = (
        "targets:\n  - {name: default, provider: openai, model: '${{ MODEL }}', "
        "api_key: '${{ API_KEY }}', base_url: 'https://${{ HOST }}/v1'}\n"
    )

    def digest(**changes: str) -> str:
        env = {"MODEL": "gpt-4o", "API_KEY": "sk-one-two", "HOST": "one.example", **changes}
        return resolved(targets(project, text), **env).digest

    assert digest(API_KEY="sk-three-four") == digest()
    assert len({digest(), digest(MODEL="gpt-5"), digest(HOST="two.example")}) == 3


@pytest.mark.parametrize(
    ("settings", "variable", "counts"),
    [
        ("provider: openai, model: m, api_key: k-literal, temperature: '${{ T }}'", "T", True),
        ("provider: cli, command_template: 'ask --model ${{ MODEL }}'", "MODEL", True),
        ("provider: cli, command_template: 'ask -m ${{ SHOP_MODEL }}'", "SHOP_MODEL", True),
        ("provider: cli, command_template: 'ask --in ${{ ROOT }}'", "ROOT", False),
        ("provider: cli, command_template: 'ask ${{ ADMIN_TOKEN }}'", "ADMIN_TOKEN", False),
    ],
    ids=["temperature", "model in a command", "model of a name", "folder", "secret"],
)
def test_the_digest_knows_what_a_variable_says_of_the_answers(
    project: Project, settings: str, variable: str, counts: bool
) -> None:
    """A run half of which was answered by another model would be worth nothing."""
    found = targets(project, f"targets:\n  - {{name: default, {settings}}}\n")
    digests = {resolved(found, **{variable: value}).digest for value in ("0.25", "0.75")}
    assert len(digests) == (2 if counts else 1)


def test_who_judges(project: Project) -> None:
    text = MOCK + "  - {name: other, provider: mock, response: hi, judge_target: default}\n"
    found = targets(project, text)
    assert (found.judge_of("default"), found.judge_of("other")) == ("default", "default")


@pytest.mark.parametrize(
    ("name", "folder"), [("targets.yaml", "."), (".agentv/targets.yaml", "."), ("x/t.yaml", "x")]
)
def test_relative_paths_start_in_the_project_s_folder(
    project: Project, name: str, folder: str
) -> None:
    found = targets(project, MOCK, name)
    assert found.folder == resolved(found).folder == project.folder / folder


def test_the_first_targets_file_on_the_way_up(project: Project) -> None:
    """In each folder the four names in their order, then the next folder up."""
    folders = [project.folder / folder for folder in FOLDERS]
    assert find_targets_file(folders) is None
    for folder in reversed(folders):
        for name in reversed(NAMES):
            project.write({str((folder / name).relative_to(project.folder)): MOCK})
            assert find_targets_file(folders) == folder / name


def test_the_working_directory_comes_last(project: Project, tmp_path: Path) -> None:
    project.write(
        {
            "repo/.git/HEAD": "",
            "repo/evals/a.eval.yaml": f"evalcases:\n{CASE}",
            "elsewhere/targets.yaml": MOCK.replace("hi", "elsewhere"),
        }
    )
    here = project.folder / "elsewhere"
    loaded = suite(project, "repo/evals/a.eval.yaml", cwd=here)
    assert loaded.targets is not None
    assert loaded.targets.path == here / "targets.yaml"
    project.write({"repo/.agentv/targets.yml": MOCK})
    loaded = suite(project, "repo/evals/a.eval.yaml", cwd=here)
    assert loaded.targets is not None
    assert loaded.targets.path == project.folder / "repo" / ".agentv" / "targets.yml"


def test_a_targets_file_that_was_asked_for(project: Project) -> None:
    project.write({"x/t.yaml": MOCK, "a.eval.yaml": f"evalcases:\n{CASE}", "targets.yaml": "-"})
    assert suite(project, targets_path=project.folder / "x" / "t.yaml").target_names == ("default",)
    assert said(project, targets_path=project.folder / "lost.yaml") == ["lost.yaml  no such file"]


def test_a_file_that_is_no_yaml(project: Project) -> None:
    project.write({"targets.yaml": "targets: {\n"})
    with pytest.raises(LoadError) as caught:
        load_targets(project.folder / "targets.yaml", project.folder, Registry())
    assert [problem.line for problem in caught.value.problems] == [1]


def test_targets_are_only_read_once(project: Project) -> None:
    project.write({"a.eval.yaml": f"evalcases:\n{CASE}", "targets.yaml": MOCK})
    workspace = load(project)
    assert workspace.suites[0].targets is not None
    assert workspace.target(workspace.suites[0], "default").options.name == "default"
    with pytest.raises(KeyError):
        workspace.target(workspace.suites[0], "other")
