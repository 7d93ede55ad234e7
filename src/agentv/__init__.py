"""AgentV: run evals for AI agents and prompts, and trust what comes out.

The names below are imported when they are first used, so `import agentv` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentv.api import EvalRun, aevaluate, evaluate
    from agentv.errors import AgentVError, ExitCode, ProviderError, ProviderTimeout
    from agentv.model.problem import LoadError, Problem
    from agentv.model.request import ProviderRequest, ProviderResponse
    from agentv.model.result import TrialResult
    from agentv.model.score import EvaluationContext, Score, Usage

__version__ = "0.1.0"

__all__ = [
    "AgentVError",
    "EvalRun",
    "EvaluationContext",
    "ExitCode",
    "LoadError",
    "Problem",
    "ProviderError",
    "ProviderRequest",
    "ProviderResponse",
    "ProviderTimeout",
    "Score",
    "TrialResult",
    "Usage",
    "__version__",
    "aevaluate",
    "evaluate",
]

_HOMES = {
    "api": ("EvalRun", "aevaluate", "evaluate"),
    "errors": ("AgentVError", "ExitCode", "ProviderError", "ProviderTimeout"),
    "model.problem": ("LoadError", "Problem"),
    "model.request": ("ProviderRequest", "ProviderResponse"),
    "model.result": ("TrialResult",),
    "model.score": ("EvaluationContext", "Score", "Usage"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'agentv' has no attribute '{name}'")
    return getattr(import_module(f"agentv.{_HOME_OF[name]}"), name)
