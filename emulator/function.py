"""Function: the execution environments of a function; idle ones are reused, the last one first."""

from collections.abc import Callable
from threading import Lock
from time import monotonic

from emulator.build import Built
from emulator.concurrency import Concurrency
from emulator.environment import Environment
from emulator.guard import Guard
from emulator.hooks import Hooks
from emulator.invocation import Invocation, Refused, Result
from emulator.launch import Launch
from emulator.meter import Meter
from emulator.template import Function

Log = Callable[[str, str], None]


class Pool:
    """A function, its environments and its concurrency."""

    def __init__(
        self,
        function: Function,
        launch: Launch,
        *,
        concurrency: Concurrency,
        guard: Guard,
        meter: Meter,
        hooks: Callable[[], Hooks],
        log: Log,
        freeze: bool,
    ) -> None:
        """Start nothing."""
        self.function = function
        self._launch, self._concurrency, self._guard, self._meter = launch, concurrency, guard, meter
        self._hooks, self._log, self._freeze = hooks, log, freeze
        self._lock = Lock()
        self._idle: list[Environment] = []
        self._busy: set[Environment] = set()
        self._closed = False

    @property
    def environments(self) -> list[Environment]:
        """All environments, idle ones first."""
        with self._lock:
            return [*self._idle, *self._busy]

    def admit(self, invocation: Invocation) -> None:
        """Reserve concurrency for an invocation, which `run` releases; raise Refused if the limit is reached."""
        try:
            self._hooks().before(invocation)
            self._concurrency.acquire(self.function.id)
        except Refused as refusal:
            self._meter.count(self.function.id, throttles=int(refusal.status == 429))
            raise

    def run(self, invocation: Invocation) -> Result:
        """Run an admitted invocation in an idle environment or a new one."""
        environment = None
        try:
            environment = self._find()
            result = self._run_in(environment, invocation)
            self._meter.count_result(self.function.id, result, self.function.memory)
        finally:
            self._concurrency.release(self.function.id)
        return result

    def reap(self, idle_seconds: float) -> None:
        """End environments that have been idle for that long."""
        with self._lock:
            old = [each for each in self._idle if monotonic() - each.used >= idle_seconds]
            self._idle = [each for each in self._idle if each not in old]
        for environment in old:
            environment.close()

    def close(self) -> None:
        """End all environments, even busy ones."""
        with self._lock:
            self._closed = True
            environments, self._idle = [*self._idle, *self._busy], []
        for environment in environments:
            environment.close()

    def _find(self) -> Environment:
        with self._lock:
            if self._closed:
                raise Refused(503, "ServiceException", "The emulator is closing.")
            if self._idle:
                environment = self._idle.pop()
                self._busy.add(environment)
                return environment
        environment = Environment(self._launch, self._guard, self._emit)
        with self._lock:
            self._busy.add(environment)
        return environment

    def _run_in(self, environment: Environment, invocation: Invocation) -> Result:
        hooks, timeout = self._hooks(), self.function.timeout
        try:
            with hooks.during(invocation, environment):
                seconds = hooks.seconds(invocation, timeout)
                result = environment.invoke(invocation, self.function.arn, timeout, seconds)
        except BaseException:
            self._keep(environment, broken=True)
            raise
        # A hook may kill the environment after the result arrived.
        self._keep(environment, broken=result.broken or environment.dead)
        return result

    def _keep(self, environment: Environment, *, broken: bool) -> None:
        if not broken and self._freeze:
            environment.freeze()
        with self._lock:
            self._busy.discard(environment)
            broken = broken or self._closed
            if not broken:
                environment.used = monotonic()
                self._idle.append(environment)
        if broken:
            environment.close()

    def _emit(self, line: str) -> None:
        self._log(self.function.id, line)


def launch(function: Function, built: Built, variables: dict[str, str], region: str) -> Launch:
    """Return the parameters to start an environment of this function."""
    path = built.path_of(function)
    return Launch(
        server=built.server,
        python=built.python.path,
        task=path[0],
        handler=function.handler,
        variables={
            "AWS_ACCESS_KEY_ID": "emulator",
            "AWS_SECRET_ACCESS_KEY": "emulator",
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            **function.variables,
            **variables,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.runtime}",
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
            # The local server must not time out first: the emulator enforces the deadline.
            "AWS_LAMBDA_FUNCTION_TIMEOUT": "86400",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "LAMBDA_TASK_ROOT": str(path[0]),
            "LAMBDA_RUNTIME_DIR": str(path[-1]),
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": ":".join(map(str, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
