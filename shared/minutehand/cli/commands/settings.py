"""`minutehand settings`: the value and origin of every setting."""

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.settings.report import misspelled, report

INVALID = 2


@click.command()
@output_option("table", "json")
def settings(form: str) -> int:
    """Print settings, their values and origins.

    Reads the environment of this command. The origin of a value is the environment, a secret in
    Secrets Manager, or the default. Secrets are masked and not fetched. Exits with 2 if a value is
    invalid. Warns of variables that are almost named like a setting.

    \b
    Examples:
      minutehand settings
      minutehand settings -o json | jq 'select(.origin == "environment")'
    """
    reported = report()
    if form == "json":
        for setting in reported:
            put_json(setting)
    else:
        put_table(
            ["setting", "value", "origin"],
            [[setting.name, setting.value, setting.origin] for setting in reported],
        )
    for fault in misspelled():
        print_message(f"warning: {fault}")
    errors = [setting.error for setting in reported if setting.error]
    for error in errors:
        print_message(f"error: {error}")
    return INVALID if errors else 0
