"""What an author may write under `sandbox`, and how mistakes in it are said."""

from collections.abc import Iterator

import msgspec
import pytest
from provider_build import NoFiles

from agentv.loading.targets import load_targets
from agentv.model.options import FileFinder, OptionProblem, TargetOptions
from agentv.protocols import ProviderBuild
from agentv.providers.sandboxes.options import (
    SandboxKind,
    SandboxOptions,
    sandbox_options,
    sandbox_problems,
)
from agentv.registry import Entry, Registry
from agentv.testing import Project


class Options(TargetOptions, frozen=True, kw_only=True):
    """A target that can be confined."""

    sandbox: SandboxKind | SandboxOptions | None = None

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        yield from super().problems(files)
        yield from sandbox_problems(self.sandbox)


def _none(options: Options, build: ProviderBuild) -> None:
    """No provider is built here."""


def said(project: Project, sandbox: str) -> list[str]:
    """The mistakes of a target with this setting, as lines."""
    text = f"targets:\n  - name: a\n    provider: agent\n    sandbox: {sandbox}\n"
    project.write({"targets.yaml": text})
    entry = Entry(factory=_none, options=Options, summary="An agent.")
    registry = Registry(providers={"agent": entry})
    targets = load_targets(project.folder / "targets.yaml", project.folder, registry)
    return [str(p).replace(f"{project.folder}/", "") for p in targets.problems]


@pytest.mark.parametrize(
    "sandbox",
    [
        "bubblewrap",
        "{kind: bubblewrap, network: true, readable: [~/x], writable: [out], hidden: [evals]}",
        "{kind: bubblewrap, network: [api.example.com, '127.0.0.1:8901', '*.example.com']}",
        "{kind: docker, image: 'agents:1', memory: 2g, cpus: 1.5, pids: 100, network: false}",
        "{kind: docker, image: '${{ IMAGE }}'}",
    ],
)
def test_what_may_be_written(project: Project, sandbox: str) -> None:
    assert said(project, sandbox) == []


@pytest.mark.parametrize(
    ("sandbox", "line"),
    [
        (
            "bubblewarp",
            "targets.yaml:4:14  targets[0].sandbox  unknown sandbox 'bubblewarp'; did you mean "
            "'bubblewrap'? one of bubblewrap, docker",
        ),
        (
            "docker",
            "targets.yaml:4:14  targets[0].sandbox  a sandbox of kind 'docker' needs `image`; "
            "name an image in which the agent is installed",
        ),
        (
            "{kind: bubblewrap, nework: true}",
            "targets.yaml:4:33  targets[0].sandbox.nework  unknown key 'nework'; did you mean "
            "'network'?",
        ),
        (
            "{kind: bubblewrap, memory: 2g}",
            "targets.yaml:4:41  targets[0].sandbox.memory  `memory` means nothing to a sandbox of "
            "kind 'bubblewrap'; it belongs to `kind: docker`",
        ),
        (
            "{kind: docker, image: a, hidden: [evals]}",
            "targets.yaml:4:47  targets[0].sandbox.hidden  `hidden` means nothing to a sandbox of "
            "kind 'docker'; it belongs to `kind: bubblewrap`",
        ),
        (
            "{kind: docker, image: a, network: [a.example.com]}",
            "targets.yaml:4:48  targets[0].sandbox.network  a sandbox of kind 'docker' has no list "
            "of hosts; write true or false, or use `kind: bubblewrap`",
        ),
        (
            "{kind: bubblewrap, network: [a.example.com, 'https://b.example.com']}",
            "targets.yaml:4:58  targets[0].sandbox.network[1]  'https://b.example.com' is not a "
            "host that can be allowed; write the host alone, such as api.example.com or "
            "127.0.0.1:8901",
        ),
        (
            "{network: true}",
            "targets.yaml:4:14  targets[0].sandbox.kind  the key 'kind' is missing",
        ),
        (
            "{kind: docker, image: a, cpus: 0}",
            "targets.yaml:4:45  targets[0].sandbox.cpus  the number 0 is out of range; write a "
            "number greater than 0",
        ),
        (
            "{kind: docker, image: a, memory: lots}",
            "targets.yaml:4:47  targets[0].sandbox.memory  'lots' is not an amount of memory; "
            "write a number with a unit, such as 512m or 2g",
        ),
    ],
)
def test_a_mistake_is_said_at_its_place(project: Project, sandbox: str, line: str) -> None:
    assert said(project, sandbox) == [line]


def test_a_name_alone_stands_for_the_plain_kind() -> None:
    assert sandbox_options("bubblewrap") == SandboxOptions(kind="bubblewrap")


def test_a_block_is_read_as_json_too() -> None:
    data = {"name": "a", "provider": "agent", "sandbox": {"kind": "docker", "image": "b"}}
    read = msgspec.convert(data, Options)
    assert read.sandbox == SandboxOptions(kind="docker", image="b")
    assert list(read.problems(NoFiles())) == []
