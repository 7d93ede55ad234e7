"""The codes of problems that the source can produce, found in its syntax trees.

A code is what is handed to a parameter called `code`, by name or by position, or assigned to a
variable of that name. So a new code is found wherever it is written.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import agentv

_FOLDER = Path(agentv.__file__).parent


@cache
def source_codes() -> frozenset[str]:
    """Every code in the package."""
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(_FOLDER.rglob("*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    positions = {name: at for node in nodes for name, at in _takers(node)}
    tuples = {name: value for tree in trees for name, value in _tuples(tree)}
    return frozenset(
        code
        for node in nodes
        for expression in _expressions(node, positions, tuples)
        for code in _texts(expression)
    )


def _takers(holder: ast.AST) -> Iterator[tuple[str, int]]:
    """Functions and classes with a positional parameter `code`, and its position in a call."""
    for node in ast.iter_child_nodes(holder):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            if "code" in names:
                is_init = node.name == "__init__" and isinstance(holder, ast.ClassDef)
                yield holder.name if is_init else node.name, names.index("code")  # type: ignore[attr-defined]


def _tuples(tree: ast.Module) -> Iterator[tuple[str, ast.Tuple]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))


def _expressions(
    node: ast.AST, positions: dict[str, int], tuples: dict[str, ast.Tuple]
) -> Iterator[ast.expr]:
    """What a node gives to something called `code`."""
    if isinstance(node, ast.AnnAssign) and _name(node.target) == "code" and node.value:
        yield node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)
    elif isinstance(node, ast.Call):
        yield from (word.value for word in node.keywords if word.arg == "code")
        if (at := positions.get(_name(node.func))) is not None:
            arguments = list(_unpacked(node.args, tuples))
            yield from arguments[at : at + 1]


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for inner, part in zip(target.elts, value.elts, strict=True):
            yield from _assigned(inner, part)
    elif _name(target) == "code":
        yield value


def _unpacked(arguments: list[ast.expr], tuples: dict[str, ast.Tuple]) -> Iterator[ast.expr]:
    for argument in arguments:
        if isinstance(argument, ast.Starred) and _name(argument.value) in tuples:
            yield from tuples[_name(argument.value)].elts
        else:
            yield argument


def _texts(expression: ast.expr) -> Iterator[str]:
    if isinstance(expression, ast.IfExp):
        yield from _texts(expression.body)
        yield from _texts(expression.orelse)
    elif isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        yield expression.value


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
