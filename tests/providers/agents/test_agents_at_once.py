"""Twenty cases by six workers: each has its own folder, log and answer."""

from pathlib import Path

import pytest

from agent_vendor import AgentVendor, Conversation, Run, Say, read_links
from agents.real import CODEX
from agents.stage import Stage
from agentv.errors import ExitCode
from story import case, contains

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


def look_around_and_read(conversation: Conversation) -> Say | Run:
    """Leave a file behind and list the folder; then read the links."""
    if not conversation.results:
        return Run(command=f"touch 'mark of {conversation.query.split()[-1]}'; ls")
    rest = Conversation(
        model=conversation.model,
        system=conversation.system,
        texts=conversation.texts,
        results=conversation.results[1:],
        tools=conversation.tools,
    )
    move = read_links(rest)
    if isinstance(move, Say):
        return Say(text="\n".join(conversation.results))
    return move


def test_there_is_no_cross_talk(stage: Stage) -> None:
    names = [f"case{number:02}" for number in range(20)]
    stage.project.write({f"files/{name}/notes.txt": f"secret-word-of-{name}" for name in names})
    cases = [
        case(
            name,
            contains(f"secret-word-of-{name}"),
            input_messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "file", "value": f"files/{name}/notes.txt"},
                        {"type": "text", "value": f"This is {name}"},
                    ],
                }
            ],
        )
        for name in names
    ]
    with AgentVendor(look_around_and_read) as vendor:
        target = CODEX.target(vendor.url, stage.home)
        played = stage.play(target, *cases, options=("--workers", "6"))

    assert played.outcome.code == ExitCode.OK, played.outcome.out
    assert set(played.rows) == set(names)
    logs = set()
    for name, row in played.rows.items():
        others = [other for other in names if other != name]
        log = stage.project.folder / row["artifacts"]["log"]
        logs.add(log)
        told = row["candidate_answer"] + log.read_text() + str(row["trace"])
        assert f"mark of {name}" in row["candidate_answer"]
        assert f"secret-word-of-{name}" in row["candidate_answer"]
        assert not [other for other in others if other in told]
    assert len(logs) == len(names)
    assert logs == set(stage.logs("codex"))
    folders = {Path(asked.conversation.linked_files[0]).parents[2] for asked in vendor.asked}
    assert len(folders) == len(names)
