"""`minutehand reencrypt`: re-encrypt pending payloads after a key rotation."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json
from minutehand.encryption import reencrypt as library
from minutehand.errors import DecryptionError


@click.command()
@filter_option("--queue", help="Only jobs in this queue, and no schedules.")
@output_option("table", "json")
@connection_options
def reencrypt(queue: str | None, form: str) -> None:
    """Re-encrypt pending payloads with the current key: those of unfinished jobs and of schedules.

    Set MINUTEHAND_ENCRYPTION_KEY to the new key, and add the old one to MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS. Remove the
    old key afterwards, once no process encrypts with it.

    \b
    Examples:
      minutehand reencrypt
      minutehand reencrypt --queue mail -o json
    """
    count, failure = 0, None
    with open_database() as database:
        try:
            for written in library.reencrypt(database, queue=queue, actor=actor()):
                count += written
        except DecryptionError as error:
            failure = error
    if form == "json":
        put_json({"reencrypted": count})
    else:
        print_message(f"{count} payloads re-encrypted")
    if failure is not None:
        raise failure
