"""Emulator: run the functions of a template behind Lambda's Invoke API, inside a `with` block."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from emulator.async_queue import AsyncQueue, Failure
from emulator.build import build
from emulator.cache import Cache
from emulator.clock import Clock
from emulator.concurrency import Concurrency
from emulator.errors import EmulatorError, UnknownParameterError
from emulator.function import Log, Pool, launch
from emulator.guard import Guard
from emulator.hooks import Hooks, WellBehaved
from emulator.invocation import Invocation, Result
from emulator.invoke_api import ARN, InvokeApi
from emulator.meter import Meter
from emulator.parts import architecture
from emulator.template import Function, Template, read_template
from minutehand.local.lambda_endpoint import LambdaEndpoint

REAP_SECONDS = 5.0


class Emulator:
    """A local emulation of Lambda.

    `environment` is set in every function, or under a logical id only in that function. It overrides the template.
    `concurrency` is the account's limit; new accounts have 10.
    """

    def __init__(
        self,
        template: Path | str = "template.yaml",
        *,
        environment: Mapping[str, str | Mapping[str, str]] | None = None,
        parameters: Mapping[str, str] | None = None,
        stack: str = "minutehand",
        region: str = "us-east-1",
        python: str | None = None,
        concurrency: int = 10,
        freeze: bool = True,
        idle_seconds: float = 300.0,
        clock: Clock | None = None,
        hooks: Hooks | None = None,
        port: int = 0,
        cache: Path = Path(".emulator"),
        log: Log = lambda function, line: None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Read the template; `with` builds it."""
        self.template = _read(Path(template), parameters or {}, stack, region)
        self.clock, self.hooks, self.meter = clock or Clock(), hooks or WellBehaved(), Meter()
        reserved = {id: function.reserved for id, function in self.template.functions.items()}
        self.concurrency = Concurrency(concurrency, reserved)
        self._environment, self._python, self._freeze = environment or {}, python, freeze
        self._idle_seconds, self._port, self._cache = idle_seconds, port, Cache(cache)
        self._log, self._report_line = log, report
        self._pools: dict[str, Pool] = {}
        self._queue = AsyncQueue(self.clock, self._pools.__getitem__, lambda: self.hooks, self.meter)
        self._stack = ExitStack()
        self._closing = Event()

    def __enter__(self) -> Self:
        """Build what has changed, and start."""
        with ExitStack() as stack:
            built = build(self.template, self._cache, self._python, self._report_line)
            guard = Guard()
            stack.callback(guard.close)
            api = InvokeApi(self._id_of, self.run, self._queue.accept)
            endpoint = stack.enter_context(LambdaEndpoint(api, self._port))
            self.url = endpoint.url
            for id, function in self.template.functions.items():
                self._pools[id] = Pool(
                    function,
                    launch(function, built, self._variables(id), self.template.region),
                    concurrency=self.concurrency,
                    guard=guard,
                    meter=self.meter,
                    hooks=lambda: self.hooks,
                    log=self._log,
                    freeze=self._freeze,
                )
                stack.callback(self._pools[id].close)
            self._queue.start()
            stack.callback(self._queue.close)
            Thread(target=self._reap, daemon=True).start()
            stack.callback(self._closing.set)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything."""
        self._stack.close()

    def client(self, **settings: Any) -> Any:
        """Return a boto3 client of this Lambda without retries; `settings` are those of botocore."""
        import boto3
        from botocore.config import Config

        config: dict[str, Any] = {
            "retries": {"total_max_attempts": 1},
            "read_timeout": 900,
            "max_pool_connections": 100,
        }
        return boto3.client(
            "lambda",
            endpoint_url=self.url,
            region_name=self.template.region,
            config=Config(**config | settings),
            aws_access_key_id="emulator",
            aws_secret_access_key="emulator",
        )

    def invoke(self, function: str, event: object = None) -> Result:
        """Invoke a function by logical id, name or ARN, and return the result; raise Refused for a throttle."""
        return self.run(self._invocation(function, event, asynchronous=False))

    def send(self, function: str, event: object = None) -> str:
        """Invoke a function asynchronously; return the id of the request."""
        invocation = self._invocation(function, event, asynchronous=True)
        self._queue.accept(invocation)
        return invocation.id

    def run(self, invocation: Invocation) -> Result:
        """Run a synchronous invocation."""
        pool = self._pools[invocation.function]
        pool.admit(invocation)
        return pool.run(invocation)

    def tick(self, moment: datetime | None = None) -> None:
        """Send the event of every schedule once, with this scheduled time."""
        scheduled = (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
        for function in self.template.functions.values():
            for schedule in function.schedules:
                self.send(
                    function.id,
                    json.loads(schedule.input.replace("<aws.scheduler.scheduled-time>", scheduled)),
                )

    def pool(self, function: str) -> Pool:
        """Return the environments of a function."""
        return self._pools[self._known(function).id]

    def function(self, function: str) -> Function:
        """Return the function's declaration in the template."""
        return self._known(function)

    def limit(self, function: str, reserved: int | None) -> None:
        """Change the reserved concurrency of a function; None removes it."""
        self.concurrency.reserved[self._known(function).id] = reserved

    @property
    def failures(self) -> list[Failure]:
        """The failed events, with the records of the on-failure destination."""
        with self.clock.changed:
            return list(self._queue.failures)

    @property
    def pending(self) -> int:
        """The number of pending and running events."""
        return len(self._queue)

    def settle(self, seconds: float = 600.0) -> None:
        """Wait until no event is running or due; raise NotSettledError after this many real seconds."""
        self._queue.settle(seconds)

    def pass_time(self, seconds: float, patience: float = 600.0) -> None:
        """Advance the clock to each due event and wait for its result; for a clock with speed 0."""
        until = self.clock.now() + seconds
        deadline = time.monotonic() + patience
        while True:
            self.settle(max(0.1, deadline - time.monotonic()))
            due = self._queue.next_due
            moment = until if due is None or due > until else due
            self.clock.advance(max(0.0, moment - self.clock.now()))
            if moment == until:
                break
        self.settle(max(0.1, deadline - time.monotonic()))

    def _invocation(self, function: str, event: object, *, asynchronous: bool) -> Invocation:
        payload = json.dumps({} if event is None else event).encode()
        return Invocation(function=self._known(function).id, payload=payload, event=asynchronous)

    def _known(self, function: str) -> Function:
        named = ARN.fullmatch(function)
        if named is None or (id := self._id_of(named[1])) is None:
            known = ", ".join(self.template.functions)
            raise EmulatorError(f"the template does not contain the function {function}; it contains {known}")
        return self.template.functions[id]

    def _id_of(self, name: str) -> str | None:
        if name in self.template.functions:
            return name
        return next((each.id for each in self.template.functions.values() if each.name == name), None)

    def _variables(self, id: str) -> dict[str, str]:
        specific = self._environment.get(id, {})
        common = {name: value for name, value in self._environment.items() if isinstance(value, str)}
        return {
            **common,
            **(specific if isinstance(specific, Mapping) else {}),
            "AWS_ENDPOINT_URL_LAMBDA": self.url,
        }

    def _reap(self) -> None:
        while not self._closing.wait(REAP_SECONDS):
            for pool in self._pools.values():
                pool.reap(self._idle_seconds)


def _read(path: Path, parameters: Mapping[str, str], stack: str, region: str) -> Template:
    """Read a template for this machine's architecture, unless the template sets it."""
    complete = {"Architecture": architecture(), **parameters}
    try:
        return read_template(path, complete, stack=stack, region=region)
    except UnknownParameterError:
        return read_template(path, parameters, stack=stack, region=region)
