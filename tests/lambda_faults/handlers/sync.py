"""Call a service that does not answer."""


def handle() -> None:
    raise TimeoutError("the provider does not answer")
