"""Commands that have commands: a slip of the keyboard gets the nearest name."""

import click


class ForgivingGroup(click.Group):
    """A group that knows what was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A mistyped command gets the nearest name."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from agentv.loading.nearest import nearest

            near = nearest(args[0], known)
            hint = f" Did you mean '{near}'?" if near else f" There are {_listed(known)}."
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
