"""Options that must not be repeated: of two filters, click would silently use the last one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from click.core import ParameterSource


class Once(click.Option):
    """An option with one value; a second one is a usage error."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser collect all values, to count them."""
        if self.name is not None:
            parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the value; raise a usage error if there are several."""
        given = opts.get(self.name or "")
        if not isinstance(given, list):
            return super().consume_value(ctx, opts)
        if len(given) > 1 and not ctx.resilient_parsing:
            values = ", ".join(str(value)[:80] for value in given)
            raise click.UsageError(
                f"{self.opts[0]} was given {len(given)} times ({values}); give it once", ctx
            )
        return super().consume_value(ctx, {**opts, self.name: given[-1]})


filter_option = partial(click.option, cls=Once)
