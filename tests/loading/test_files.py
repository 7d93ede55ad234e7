"""Finding and reading the files that authors refer to."""

from pathlib import Path

import pytest

from agentv.loading.files import SearchPath, read_attachment
from agentv.loading.project import find_root, folders_to_root, folders_up, show
from agentv.testing import Project


@pytest.fixture
def files(project: Project) -> SearchPath:
    """Where a suite in `repo/evals/deep` looks, from the working directory `here`."""
    project.write({"repo/.git/HEAD": "", "repo/evals/deep/x": "", "here/x": ""})
    start = project.folder / "repo" / "evals" / "deep"
    cwd = project.folder / "here"
    return SearchPath(folders_up(start, find_root(start, cwd), cwd))


def test_from_the_eval_file_upwards_then_the_working_directory(
    project: Project, files: SearchPath
) -> None:
    """Nothing outside the repository counts but the working directory."""
    project.write({"a.md": "outside"})
    assert files.find("a.md") is None
    for folder in ("here", "repo", "repo/evals", "repo/evals/deep"):
        project.write({f"{folder}/a.md": folder})
        fresh = SearchPath(files.folders)
        assert fresh.find("a.md") == project.folder / folder / "a.md"
    assert files.tried("./x/../a.md") == [
        project.folder / "repo" / "evals" / "deep" / "a.md",
        project.folder / "repo" / "evals" / "a.md",
        project.folder / "repo" / "a.md",
        project.folder / "here" / "a.md",
    ]


def test_absolute_paths_and_leading_slashes(project: Project, files: SearchPath) -> None:
    """A leading slash is the machine's root if the file is there, else the repository's."""
    project.write({"outside.md": "", "repo/docs/a.md": ""})
    outside = project.folder / "outside.md"
    assert files.find(str(outside)) == outside
    assert files.find("/docs/a.md") == project.folder / "repo" / "docs" / "a.md"
    assert files.tried("/docs/a.md")[0] == Path("/docs/a.md")


def test_parents_of_the_eval_file(project: Project, files: SearchPath) -> None:
    project.write({"repo/docs/a.md": ""})
    assert files.find("../../docs/a.md") == project.folder / "repo" / "docs" / "a.md"
    assert files.find("docs") == project.folder / "repo" / "docs"


@pytest.mark.parametrize("reference", ["\0", "a" * 5_000, "no/such/a.md"])
def test_references_that_no_file_can_have(files: SearchPath, reference: str) -> None:
    assert files.find(reference) is None
    assert files.suggest(reference) is None


def test_a_name_that_is_nearly_the_same(project: Project, files: SearchPath) -> None:
    """Endings do not count: else every `.md` would be near to every other."""
    project.write({"repo/docs/greeting.md": "", "repo/docs/notes.md": ""})
    assert files.suggest("docs/greting.md") == "docs/greeting.md"
    assert files.suggest("docs/greeting.txt") == "docs/greeting.md"
    assert files.suggest("docs/lost.md") is None


def test_suggestions_come_to_an_end(project: Project, files: SearchPath) -> None:
    """Thousands of references into a folder that was moved must not be compared with all of it."""
    project.write({"repo/docs/greeting.md": ""})
    found = [files.suggest("docs/greting.md") for _ in range(200)]
    assert found.count("docs/greeting.md") == 100


def test_what_was_found_stays_found(project: Project, files: SearchPath) -> None:
    """One run sees one state of the files."""
    path = project.write({"repo/a.md": ""}).folder / "repo" / "a.md"
    assert files.find("a.md") == path
    path.unlink()
    assert files.find("a.md") == path
    assert SearchPath(files.folders).find("a.md") is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbf  one\r\ntwo\n\n", "one\ntwo"),
        ("café\r".encode(), "café"),
        (b"", ""),
    ],
)
def test_the_text_of_an_attachment(project: Project, content: bytes, expected: str) -> None:
    """Without a byte-order mark, stripped at both ends, line endings as newlines."""
    assert read_attachment(project.write({"a.md": content}).folder / "a.md") == expected


def test_an_attachment_is_read_anew(project: Project) -> None:
    """A program that runs a suite again after mending a file must not see the old one."""
    path = project.write({"a.md": "old"}).folder / "a.md"
    assert read_attachment(path) == "old"
    path.write_text("new")
    assert read_attachment(path) == "new"


def test_the_root_of_a_project(project: Project) -> None:
    """The repository; without one the working directory if it is above, else the folder itself."""
    folder = project.folder / "evals" / "deep"
    assert find_root(folder, project.folder / "elsewhere") == project.folder
    (project.folder / ".git").rmdir()
    assert find_root(folder, project.folder) == project.folder
    assert find_root(folder, folder / "x") == folder
    assert find_root(folder, folder) == folder


def test_folders_to_the_root() -> None:
    root = Path("/repo")
    assert folders_to_root(root / "a" / "b", root) == (root / "a" / "b", root / "a", root)
    assert folders_to_root(root, root) == (root,)
    assert folders_up(root / "a", root, root) == (root / "a", root)
    assert folders_up(root, root, Path("/x")) == (root, Path("/x"))


def test_paths_as_a_user_would_type_them() -> None:
    assert show(Path("/repo/evals/a.yaml"), Path("/repo")) == "evals/a.yaml"
    assert show(Path("/other/a.yaml"), Path("/repo")) == "/other/a.yaml"
