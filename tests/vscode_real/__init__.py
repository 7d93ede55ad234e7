"""A real VS Code on loopback: `make test-vscode` (see `docs/vscode.md`).

code-server is VS Code's server with its chat extension; a headless Chromium holds its windows. The
chat's model is a small server of ours that plays the agent with VS Code's own tools, so no account
and no network are needed once everything is installed.
"""
