"""AgentV: run evals for AI agents and prompts, and trust what comes out."""

__version__ = "0.1.0"
