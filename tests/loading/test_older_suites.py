"""Suites as they are written for the TypeScript AgentV load as they are."""

import pytest
from loaded import context, lines

from agentv.core.prompt import build_prompt
from agentv.evaluators.code import CodeOptions
from agentv.evaluators.llm_judge import LlmJudgeOptions
from agentv.loading.suites import LoadedSuite
from agentv.loading.workspace import Workspace, load_workspace
from agentv.providers.cli import CliOptions
from agentv.testing import Project

TARGETS = """\
$schema: agentv-targets-v2.2

targets:
  - name: default
    provider: azure
    endpoint: ${{ AZURE_OPENAI_ENDPOINT }}
    api_key: ${{ AZURE_OPENAI_API_KEY }}
    model: ${{ AZURE_DEPLOYMENT_NAME }}

  - name: editor
    provider: vscode-insiders
    workspace_template: ${{ WORKSPACE }}
    provider_batching: false
    judge_target: default

  - name: agent
    provider: codex
    judge_target: default
    executable: ${{ CODEX_CLI }}
    args: [--profile, "${{ CODEX_PROFILE }}"]
    timeout_seconds: 180
    cwd: ${{ CODEX_FOLDER }}
    log_dir: ${{ CODEX_LOGS }}
    log_format: json

  - name: local_cli
    provider: cli
    judge_target: judge
    # {PROMPT} and {FILES} are escaped already
    command_template: uv run ./echo.py --prompt {PROMPT} {FILES} --output {OUTPUT_FILE}
    files_format: --file {path}
    cwd: ${{ TOOLS_FOLDER }}
    timeout_seconds: 30
    healthcheck:
      type: command
      command_template: uv run ./echo.py --healthcheck

  - name: judge
    provider: mock
    response: '{"score": 1, "hits": [], "misses": [], "reasoning": "fine"}'
"""

CONFIG = """\
$schema: agentv-config-v2

guideline_patterns:
  - "**/*.instructions.md"
  - "**/*.prompt.md"
  - "**/SKILL.md"
"""

SUITE = """\
# Reviews of a recipe, by a program on this machine
$schema: agentv-eval-v2
description: Recipes

target: local_cli

evalcases:
  - id: review-soup

    outcome: |-
      Notices that the salt is missing
      and says how much is needed.

    input_messages:
      - role: system
        content:
          - type: file
            value: ../../skills/cooking/SKILL.md
      - role: user
        content:
          - type: text
            value: |-
              What is missing here?

              ```
              water: 1 l
              ```
          - type: file
            value: ./recipes/soup.txt
    expected_messages:
      - role: assistant
        content: |-
          Salt: 10 g.

  - id: bread-in-turns
    conversation_id: bread
    outcome: Asks for the flour first
    execution:
      target: judge
      evaluators:
        - name: has_flour
          type: code
          script: uv run check.py
          cwd: ../../checks
        - name: is_right
          type: llm_judge
          target: judge
          prompt: ../../checks/right.md
    input_messages:
      - role: system
        content: You bake.
      - role: user
        content: Why is it flat?
      - role: assistant
        content: Which flour do you use?
      - role: user
        content: Rye.
    expected_messages:
      - role: assistant
        content:
          - type: file
            value: ./recipes/bread.md
          - type: file
            value: /evals/food/recipes/soup.txt

  # no reference answer
  - id: ideas
    outcome: |-
      Three ideas: each is
      1. cheap
      2. quick
    input_messages:
      - role: user
        content: |-
          Three ideas for dinner?
"""

WHOLE_FILE = """\
$schema: agentv-eval-v2
description: |-
  Evaluators for every case.
execution:
  target: judge
  evaluators:
    - name: shape
      type: code
      script: uv run check.py
    - name: content
      type: llm_judge

evalcases:
  - id: one
    outcome: |-
      Must be brief.
    input_messages:
      - role: user
        content:
          - type: file
            value: ../skills/cooking/routing.md
          - type: text
            value: |
              Say hello.
    expected_messages:
      - role: assistant
        content: |
          {"hello": true}
"""

FILES = {
    ".agentv/targets.yaml": TARGETS,
    ".agentv/config.yaml": CONFIG,
    "skills/cooking/SKILL.md": "# Cooking\nTaste everything.\n",
    "skills/cooking/routing.md": "Soup first.\n",
    "evals/food/first.yaml": SUITE,
    "evals/food/recipes/soup.txt": "water\n",
    "evals/food/recipes/bread.md": "Use wheat.\n",
    "evals/second.yaml": WHOLE_FILE,
    "checks/check.py": "print('{}')\n",
    "checks/right.md": "# Task\n\n{{question}}\n{{reference_answer}}\n{{candidate_answer}}\n",
}
ENV = {"TOOLS_FOLDER": "./evals/food"}


@pytest.fixture
def workspace(project: Project) -> Workspace:
    """Both suites, loaded with only the variables that a run of them needs."""
    project.write(FILES)
    paths = [project.folder / "evals" / name for name in ("food/first.yaml", "second.yaml")]
    return load_workspace(paths, context(project, ENV))


@pytest.fixture
def first(workspace: Workspace) -> LoadedSuite:
    return workspace.suites[0]


def test_they_load_without_a_word(project: Project, workspace: Workspace) -> None:
    """Targets that no case uses may lack their variables, and their provider this version."""
    assert lines(workspace.problems, project.folder) == []
    assert [loaded.total_cases for loaded in workspace.suites] == [3, 1]
    assert [loaded.suite.dataset for loaded in workspace.suites] == ["first", "second"]


def test_the_target_is_ready_with_its_template(workspace: Workspace, first: LoadedSuite) -> None:
    target = workspace.target(first, "local_cli")
    options = target.options
    assert isinstance(options, CliOptions)
    assert (options.files_format, options.cwd) == ("--file {path}", "./evals/food")
    assert options.healthcheck is not None
    assert options.healthcheck.command_template == "uv run ./echo.py --healthcheck"
    assert target.settings["cwd"] == "${{ TOOLS_FOLDER }}"
    assert target.folder == first.suite.root


def test_skills_are_guidelines_by_the_project_s_patterns(first: LoadedSuite) -> None:
    soup, *_ = first.suite.cases
    prompt = build_prompt(first.turns.turns(soup.input_messages), "lm", chat=False)
    assert prompt.guidelines == '<file path="SKILL.md">\n# Cooking\nTaste everything.\n</file>'
    assert prompt.question == (
        "<Attached: ../../skills/cooking/SKILL.md>\n\n"
        "What is missing here?\n\n```\nwater: 1 l\n```\n\n"
        '<file path="./recipes/soup.txt">\nwater\n</file>'
    )
    assert first.turns.reference_answer(soup.expected_messages) == "Salt: 10 g."


def test_a_conversation_with_evaluators_of_its_own(first: LoadedSuite) -> None:
    _, bread, _ = first.suite.cases
    assert (bread.conversation_id, bread.target) == ("bread", "judge")
    code, judge = bread.evaluators
    assert isinstance(code, CodeOptions)
    assert (code.label, code.script, code.cwd) == ("has_flour", "uv run check.py", "../../checks")
    assert isinstance(judge, LlmJudgeOptions)
    assert judge.prompt == "../../checks/right.md"
    prompt = build_prompt(first.turns.turns(bread.input_messages), "lm", chat=False)
    assert prompt.question.startswith("@[System]:\nYou bake.\n\n@[User]:\nWhy is it flat?")
    assert first.turns.reference_answer(bread.expected_messages) == "Use wheat.\n\nwater"


def test_a_case_without_a_reference_answer_is_judged_by_its_outcome(first: LoadedSuite) -> None:
    *_, ideas = first.suite.cases
    assert ideas.expected_outcome == "Three ideas: each is\n1. cheap\n2. quick"
    assert first.turns.reference_answer(ideas.expected_messages) == ""
    assert [options.type for options in ideas.evaluators] == ["llm_judge"]


def test_evaluators_for_every_case(workspace: Workspace) -> None:
    second = workspace.suites[1]
    (case,) = second.suite.cases
    assert (second.suite.target, second.target_names) == ("judge", ("judge",))
    assert [options.label for options in case.evaluators] == ["shape", "content"]
