"""Real coding agents in tests: which, how they are installed, and a stage to run them on."""

import shutil

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH")
