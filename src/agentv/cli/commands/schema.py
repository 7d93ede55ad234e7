"""`agentv schema`."""

import click

from agentv.errors import ExitCode


@click.command("schema")
@click.argument("kind", type=click.Choice(["eval", "targets", "config", "result"]))
def schema_command(kind: str) -> int:
    """Print the JSON Schema of a kind of file, for editors and other tools.

    `eval`, `targets` and `config` are files you write; `result` is a row of results.jsonl.
    """
    from agentv.cli.console import out
    from agentv.cli.schemas import schema_text

    out(schema_text(kind))
    return ExitCode.OK
