"""Loading: why a module of the user's could not be imported, and what to do."""


def reason(error: Exception, module: str) -> str:
    """Return the message of an error; for a module that does not exist, also how to find it."""
    top = module.partition(".")[0]
    if (
        isinstance(error, ModuleNotFoundError)
        and error.name is not None
        and f"{module}.".startswith(f"{error.name}.")
    ):
        return f"no module named {error.name}; start the command in the folder that contains {top}, or set PYTHONPATH"
    return str(error)
