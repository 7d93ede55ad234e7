"""VS Code's agent as a system under test, by the subagent protocol (see `docs/design/vscode.md`).

A worker is a folder with a window of its own. A request is a file in it; the agent's answer is
another. `provider` tells the story; every other file holds one part of it.
"""
