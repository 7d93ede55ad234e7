"""Eval files: every mistake at its line, none hidden by another, none made up."""

import hashlib
from typing import Any

import pytest
from loaded import CASE, MOCK, context, lines, load, said, said_of, suite

from agentv.loading.document import Document
from agentv.loading.suites import load_document
from agentv.model.problem import LoadError
from agentv.testing import Project

TEN_MISTAKES = """\
$schema: agentv-eval-v2
descripton: Ten mistakes
target: defualt
execution:
  threshold: 1.5
evalcases:
  - id: greeting
    outcom: A greeting.
    input_messages:
      - {role: usr, content: Hello}
  - id: greeting
    outcome: A greeting.
    input_messages:
      - role: user
        content:
          - {type: file, value: notes/helo.md}
  - id: counted
    evaluaters:
      - {type: contians, value: "3"}
      - {type: llm_judge, promt: Is it 3?}
    input_messages:
      - {role: user, content: 1 + 2?}
"""


def test_all_mistakes_of_a_file_are_found_at_once(project: Project) -> None:
    """Ten mistakes are ten errors, each where it stands, and nothing follows from another.

    The case with the misspelt `outcom` has an outcome, and the one with the misspelt `evaluaters`
    has evaluators: it is not held to the default one.
    """
    project.write({"notes/hello.md": "Hello", "notes/other.txt": ""})
    assert said_of(project, TEN_MISTAKES) == [
        "a.eval.yaml:2:1  descripton  unknown key 'descripton'; did you mean 'description'?",
        "a.eval.yaml:3:9  target  unknown target 'defualt'; did you mean 'default'?",
        "a.eval.yaml:5:14  execution.threshold  the number 1.5 is out of range; "
        "write a number from 0 to 1",
        "a.eval.yaml:8:5  evalcases[0].outcom  unknown key 'outcom'; did you mean 'outcome'?",
        "a.eval.yaml:10:16  evalcases[0].input_messages[0].role  unknown role 'usr'; "
        "did you mean 'user'? one of system, user, assistant, tool",
        "a.eval.yaml:11:9  evalcases[1].id  the id 'greeting' is already taken by evalcases[0]; "
        "ids are unique",
        "a.eval.yaml:16:33  evalcases[1].input_messages[0].content[0].value  "
        "no such file 'notes/helo.md'; did you mean 'notes/hello.md'? tried /project/notes/helo.md",
        "a.eval.yaml:17:5  evalcases[2]  the case has no `outcome`, and its judge needs one; "
        "say in a sentence what a good answer achieves",
        "a.eval.yaml:18:5  evalcases[2].evaluaters  unknown key 'evaluaters'; "
        "did you mean 'evaluators'?",
        "a.eval.yaml:19:16  evalcases[2].evaluaters[0].type  unknown evaluator 'contians'; "
        "did you mean 'contains'?",
        "a.eval.yaml:20:27  evalcases[2].evaluaters[1].promt  unknown key 'promt'; "
        "did you mean 'prompt'?",
        "a.eval.yaml:20:34  evalcases[2].evaluaters[1].promt  "
        "the prompt does not use {{ candidate_answer }}, so no answer would be judged; "
        "put {{ candidate_answer }} where the judge is to read the answer",
    ]
