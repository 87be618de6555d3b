"""Commands: what `why` and `attention` print as the next step, quoted for a shell."""

from shlex import quote

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
    return " ".join(map(quoted, ["minutehand", "resume", *(flags or ["--all"])]))


def quoted(word: str) -> str:
    """Quote a word for a shell. Characters that are not printable become escapes of bash and zsh.

    So the command that is shown is the one that is copied, and it cannot control a terminal that it is pasted into.
    """
    if word.isprintable():
        return quote(word)
    return "$'" + "".join(c if c.isprintable() and c not in "'\\" else _escaped(c) for c in word) + "'"


def _escaped(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode())
