"""The command line's top: which commands there are, and the one place that prints errors and
chooses exit codes.

`--help` and `--version` must be instant, so nothing but click is imported here: commands are named
by dotted path with their help line beside them, and a command's module is imported when it runs.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import cast

import click

from agentv import __version__
from agentv.cli.groups import ForgivingGroup
from agentv.errors import AgentVError, ExitCode

COMMANDS: dict[str, tuple[str, str]] = {
    "eval": ("agentv.cli.commands.eval:eval_command", "Run eval suites and leave a run."),
    "validate": (
        "agentv.cli.commands.validate:validate_command",
        "Check eval, targets and config files; every mistake at once.",
    ),
    "resume": (
        "agentv.cli.commands.resume:resume_command",
        "Go on with a run that was cut short.",
    ),
    "rescore": (
        "agentv.cli.commands.rescore:rescore_command",
        "Judge the answers of a past run anew; no candidate is asked.",
    ),
    "rerun": (
        "agentv.cli.commands.rerun:rerun_command",
        "Ask trials of a past run anew, in a new run.",
    ),
    "show": ("agentv.cli.commands.show:show_command", "Show the summary of a past run."),
    "merge": (
        "agentv.cli.commands.merge:merge_command",
        "Join shards, or parts of a run, into one run.",
    ),
    "runs": (
        "agentv.cli.commands.runs:runs_command",
        "List past runs, or remove some.",
    ),
    "export": (
        "agentv.cli.commands.export:export_command",
        "Write a past run's rows in another format.",
    ),
    "cache": (
        "agentv.cli.commands.cache:cache_command",
        "Look at the response cache, or empty it.",
    ),
    "vscode": (
        "agentv.cli.commands.vscode:vscode_command",
        "Manage the workers of VS Code targets.",
    ),
    "init": (
        "agentv.cli.commands.init:init_command",
        "Write a starter suite that runs at once, without a key.",
    ),
    "schema": (
        "agentv.cli.commands.schema:schema_command",
        "Print the JSON Schema of a kind of file.",
    ),
}


class LazyGroup(ForgivingGroup):
    """A group that imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a newcomer meets them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return cast("click.Command", getattr(import_module(module), name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table alone."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 gate holds, 1 gate fails, 2 files or arguments are wrong, "
    "3 errors or an incomplete run, 5 nothing ran or nothing was asserted, 130 interrupted.",
)
@click.version_option(__version__, prog_name="agentv")
def main() -> None:
    """Run evals for AI agents and prompts, and trust what comes out."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; never raises."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = main.main(args=given, prog_name="agentv", standalone_mode=False)
        return int(code or ExitCode.OK)
    except click.exceptions.Exit as done:
        return done.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - no traceback ends in green
        code = _tell(error)
        if "--json" in given:
            from agentv.cli.console import print_json
            from agentv.cli.failure import failure_json

            print_json(failure_json(error, code))
        return code


def _tell(error: BaseException) -> ExitCode:
    """Print an error for whoever must act on it, and return the exit code it stands for."""
    from agentv.cli.console import err, print_error

    if isinstance(error, click.ClickException):
        error.show()
        return ExitCode.USAGE
    if isinstance(error, click.Abort | KeyboardInterrupt):
        err("Interrupted.")
        return ExitCode.INTERRUPTED
    if isinstance(error, AgentVError):
        print_error(error)
        return error.exit_code
    import traceback

    err("".join(traceback.format_exception(error)))
    err("This is a mistake in AgentV itself; the text above says where.")
    return ExitCode.ERRORS
