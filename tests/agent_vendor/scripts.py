"""Conversations to be had with any agent."""

import shlex

from agent_vendor.conversation import Conversation, Run, Say, Script


def answer(text: str, *, thoughts: str | None = None) -> Script:
    """Say a text at once."""
    return lambda _: Say(text=text, thoughts=thoughts)


def run_then_answer(*commands: str, text: str | None = None) -> Script:
    """Run some command lines, one after the other; then say a text, or else what they printed."""

    def script(conversation: Conversation) -> Say | Run:
        done = len(conversation.results)
        if done < len(commands):
            return Run(command=commands[done], thoughts=f"**Step** {done + 1}")
        return Say(text="\n".join(conversation.results) if text is None else text)

    return script


def read_links(conversation: Conversation) -> Say | Run:
    """Open every file that the document links to; then say what is in them."""
    files = conversation.linked_files
    done = len(conversation.results)
    if done < len(files):
        return Run(command=f"cat -- {shlex.quote(files[done])}")
    return Say(text="\n".join(conversation.results))


def run_for_ever(conversation: Conversation) -> Run:
    """Run one more command, whatever came of the last."""
    return Run(command=f"echo round {len(conversation.results) + 1}")


def huge_answer(characters: int = 20_000_000) -> Script:
    """Say a lot, and a last word."""
    return answer("x" * characters + " the end")
