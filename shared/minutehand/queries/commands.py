"""Commands: what `why` and `attention` print as the next step, quoted for a shell."""

from shlex import join

from minutehand.model.control import SCOPE, Control

# `--tenant` is the tenant that a command acts for.
OPTIONS = {"tenant": "of-tenant"}


def names_of(control: Control) -> dict[str, str]:
    """Return the names of the jobs that a pause or limit is for."""
    return {name: getattr(control, name) for name in SCOPE if getattr(control, name)}


def resume_command(pause: Control) -> str:
    """Return the command that ends a pause."""
    names = names_of(pause)
    flags = [word for name, value in names.items() for word in (f"--{OPTIONS.get(name, name)}", value)]
    return join(["minutehand", "resume", *(flags or ["--all"])])
