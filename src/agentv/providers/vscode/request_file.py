"""The texts that an agent is given: requests, and the list that sends it through a batch.

Pure. On POSIX the agent creates the answer's file itself, because a terminal command would stop and
ask a person for permission. On Windows it moves a finished draft to its place with PowerShell, as
the protocol has it. Either way the runner, which waits for the file, is the one who unlocks.
"""

from collections.abc import Sequence
from typing import Literal

from agentv.providers.vscode.worker import Message

Delivery = Literal["file", "powershell"]

WAKEUP_FILE = ".alive"


def request_text(document: str, message: Message, delivery: Delivery) -> str:
    """One request, whole.

    Args:
        document: What is asked.
        message: Its files; their paths must be absolute.
        delivery: How the answer's file comes about.
    """
    steps = _POWERSHELL if delivery == "powershell" else _FILE
    how = steps.format(
        answer=message.answer,
        draft=message.draft,
        quoted_answer=_powershell_quoted(str(message.answer)),
        quoted_draft=_powershell_quoted(str(message.draft)),
    )
    return (
        f"[[ ## task ## ]]\n\n{document.strip()}\n\n"
        f"[[ ## system_instructions ## ]]\n\n{_ALWAYS}\n\n{how}"
    )


def orchestrator_text(messages: Sequence[Message]) -> str:
    """The list that has each request answered by a subagent of its own."""
    rows = [
        f"{number}. {message.request} -> {message.answer.name}"
        for number, message in enumerate(messages, 1)
    ]
    return _ORCHESTRATOR.format(requests="\n".join(rows))


_ALWAYS = "The answer is read from a file; what is said in the chat is not read by anybody."

_FILE = """\
1. Work the answer out completely before you write any of it.
2. Create this file, in one step, with the complete answer and nothing else in it:
   {answer}
3. That ends this request. Use no terminal command to write or move the file, and leave
   `subagent.lock` alone: whoever waits for the file unlocks the workspace.
"""

_POWERSHELL = """\
1. Create this file and write the complete answer, and nothing else, to it:
   {draft}
2. When nothing more is to be written, run this in PowerShell:

```powershell
Move-Item -LiteralPath {quoted_draft} -Destination {quoted_answer}
```

3. That ends this request. Leave `subagent.lock` alone: whoever waits for the file unlocks the
   workspace.
"""

_ORCHESTRATOR = """\
Each file on the left is a request of its own. Call the #runSubagent tool once for each of them, so
that no request is answered with another one in mind:

{requests}

Give a subagent the path of its request file, with the task to follow the instructions in it. Do not
read the request files yourself. When a subagent has failed, go on with the next one.

You are done when every request has been handed out. Leave `subagent.lock` alone: whoever waits for
the answers unlocks the workspace.
"""


def _powershell_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
