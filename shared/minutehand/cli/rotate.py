"""`minutehand rotate`: what waits encrypted is encrypted anew."""

import click

from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, say
from minutehand.cli.who import who
from minutehand.encryption.reencrypt import reencrypt


@click.command()
@click.option("--queue", help="Only jobs of this queue, and no schedules.")
@output_option("table", "json")
@connection_options
def rotate(queue: str | None, form: str) -> None:
    """Encrypt what waits anew, with the current key: payloads of jobs that are not finished, and of schedules.

    MINUTEHAND_ENCRYPTION_KEY is the new key, and the old one is among MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS. When this
    is done, and no enqueuer writes with the old key any more, it can be taken away.

    \b
    Examples:
      minutehand rotate
      minutehand rotate --queue mail -o json
    """
    with open_database() as database:
        written = sum(reencrypt(database, queue=queue, who=who()))
    if form == "json":
        put_json({"written": written})
    else:
        say(f"{written} encrypted anew")
