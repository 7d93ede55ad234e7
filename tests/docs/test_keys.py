"""Every key that an author may write, and every key of a row, is explained on its page."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest
from doc_blocks import ROOT

from agentv.evaluators.code import CodeOptions
from agentv.evaluators.is_json import IsJsonOptions
from agentv.evaluators.llm_judge import LlmJudgeOptions
from agentv.evaluators.regex import RegexOptions
from agentv.evaluators.text import TextOptions
from agentv.loading.case_file import CaseExecution, CaseFile, SuiteExecution, SuiteFile
from agentv.loading.config import ConfigFile
from agentv.model.case import ContentPart, Message
from agentv.model.request import PlacedMedia
from agentv.model.result import ErrorInfo, EvaluatorResult, RawRequest, TrialResult
from agentv.model.run import (
    MergedRun,
    RerunLink,
    RescoreLink,
    RunManifest,
    SuitePlan,
    TargetRecord,
)
from agentv.model.score import EvaluationContext, Usage
from agentv.model.shard import Shard
from agentv.model.trace import TraceEntry
from agentv.providers.agents.options import AgentOptions
from agentv.providers.apis.anthropic import AnthropicOptions
from agentv.providers.apis.azure import AzureOptions
from agentv.providers.apis.gemini import GeminiOptions
from agentv.providers.apis.openai import OpenAiOptions
from agentv.providers.apis.pydantic_ai_bridge import PydanticAiOptions
from agentv.providers.cli import CliOptions
from agentv.providers.healthcheck import HealthCheck
from agentv.providers.mock import MockOptions, MockReply
from agentv.providers.sandboxes.options import SandboxOptions
from agentv.providers.vscode.options import VsCodeOptions
from agentv.registry import BUILTIN_EVALUATORS, BUILTIN_PROVIDERS

_PAGES: list[tuple[str, Sequence[type[Any]]]] = [
    (
        "eval-files.md",
        [SuiteFile, SuiteExecution, CaseFile, CaseExecution, Message, ContentPart, ConfigFile],
    ),
    (
        "targets.md",
        [
            *(MockOptions, MockReply, CliOptions, HealthCheck, VsCodeOptions),
            *(OpenAiOptions, AzureOptions, AnthropicOptions, GeminiOptions, PydanticAiOptions),
        ],
    ),
    (
        "evaluators.md",
        [TextOptions, RegexOptions, IsJsonOptions, CodeOptions, LlmJudgeOptions],
    ),
    (
        "runs.md",
        [
            *(TrialResult, RawRequest, PlacedMedia, EvaluatorResult, ErrorInfo, Usage),
            *(RunManifest, SuitePlan, TargetRecord, MergedRun, Shard, RescoreLink, RerunLink),
        ],
    ),
    ("sandboxes.md", [SandboxOptions]),
    ("agents.md", [AgentOptions, *get_args(TraceEntry)]),
    ("python-api.md", [EvaluationContext]),
]


@pytest.mark.parametrize(("page", "records"), _PAGES, ids=[page for page, _ in _PAGES])
def test_every_key_is_explained(page: str, records: Sequence[type[Any]]) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    for record in records:
        for field in msgspec.structs.fields(record):
            name = field.encode_name
            assert f"`{name}`" in text, f"docs/{page} says nothing of `{name}` ({record.__name__})"


def test_every_built_in_has_its_section() -> None:
    for page, names in (("targets.md", BUILTIN_PROVIDERS), ("evaluators.md", BUILTIN_EVALUATORS)):
        text = (ROOT / "docs" / page).read_text("utf-8")
        for name in names:
            assert f"`{name}`" in text, f"docs/{page} says nothing of `{name}`"
