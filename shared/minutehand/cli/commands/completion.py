"""`minutehand completion`: shell completion."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a SHELL.

    \b
    Examples:
      eval "$(minutehand completion bash)"
      eval "$(minutehand completion zsh)"
      minutehand completion fish > ~/.config/fish/completions/minutehand.fish
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"SHELL must be bash, zsh or fish, got {shell}")
    click.echo(completion(ctx.find_root().command, {}, "minutehand", "_MINUTEHAND_COMPLETE").source())
