"""`minutehand dev`: run Postgres, the API, the dispatcher and workers on the loopback, until Ctrl-C."""

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import click
from rich.console import Console

from minutehand.cli.exits import INTERRUPTED, OK
from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.local.arrivals import Arrivals
from minutehand.local.functions import serve_functions
from minutehand.local.home import receive, serve_database
from minutehand.local.lambda_endpoint import LambdaEndpoint, Pools
from minutehand.local.plan import Plan, check, check_modules, find_app_port, find_functions
from minutehand.local.pool import Pool
from minutehand.local.receiver import Receiver
from minutehand.local.reload import Application, Reload, serve
from minutehand.local.seed import has_seed, seed_jobs
from minutehand.local.show import Show
from minutehand.local.stopping import LocalStop
from minutehand.local.stored import StoredJobs
from minutehand.local.variables import variables
from minutehand.local.watch import Watch
from minutehand.model.encoding import to_base64
from minutehand.project.configuration import read_configuration
from minutehand.schema.migrate import migrate
from minutehand.settings.table import HTTP_SECRETS, MODE

WATCH_SECONDS = 0.3


@click.command()
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port of the API on 127.0.0.1.",
)
@click.option(
    "--every",
    type=click.FloatRange(0.1, 3600),
    help="Seconds between ticks (60 on AWS).  [1, and 60 with MINUTEHAND_MODE=prompt]",
)
@click.option(
    "--workers",
    default=10,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Maximum number of worker processes. The first two start at once, more only if those are busy.",
)
@click.option(
    "--seed/--no-seed",
    default=True,
    help="In a checkout of minutehand, enqueue its example webhooks at the start.",
)
@click.option("--until-idle", is_flag=True, help="Stop when all jobs are finished.")
@click.option(
    "--root",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of the project.",
)
@click.option(
    "--handlers",
    "modules",
    metavar="MODULE",
    multiple=True,
    help="A module with jobs, such as shop.jobs; repeat it for several.  [those of the project]",
)
def dev(
    root: Path,
    port: int,
    every: float | None,
    workers: int,
    seed: bool,
    until_idle: bool,
    modules: tuple[str, ...],
) -> int:
    """Run everything on this machine and print its events.

    Postgres comes from a wheel and stores its data in .minutehand; set DATABASE_URL to use another server. The
    functions run in separate processes, as on Lambda. After a change of your code, the next job runs the new code.
    Press Ctrl-C to stop. Running jobs then have ten seconds to end. A job that has not ended by then, or when you press
    Ctrl-C again, is interrupted and released, and the exit code is 130.

    Run it in the folder of a project, or name your modules with --handlers in any folder that can import them.

    \b
    Examples:
      minutehand dev
      minutehand dev --port 8090 --until-idle
      minutehand dev --handlers shop.jobs
    """
    plan = Plan(
        root=root.absolute(),
        functions=find_functions(root.absolute(), modules),
        configuration=read_configuration(root, modules),
        port=port,
        every=every or (60.0 if MODE.read() == "prompt" else 1.0),
        workers=workers,
        seed=seed,
        until_idle=until_idle,
    )
    check(plan)
    stop = LocalStop()
    stop.listen()
    return run(plan, Console(), stop)


def run(plan: Plan, console: Console, stop: LocalStop) -> int:
    """Start everything, print events until `stop` is set, stop everything in reverse order; return the exit code."""
    with ExitStack() as stack:
        # Before any code is loaded, so that each later change is noticed.
        watch = Watch(plan.root)
        url = stack.enter_context(serve_database(console))
        show = Show(console, StoredJobs(url).find, f"http://127.0.0.1:{plan.port}/console/jobs/{{}}".format)
        applied = migrate(url)
        console.print(f"schema      {'created' if applied else 'up to date'}")
        signing = HTTP_SECRETS.text() or f"whsec_{to_base64(secrets.token_bytes(24))}"
        receiver = stack.enter_context(receive(signing.split(",")[0].strip()))
        environment = variables(plan, url, receiver.url, signing)
        check_modules(plan, environment)
        pools: dict[str, Pool] = {}
        endpoint = stack.enter_context(LambdaEndpoint(Pools(pools)))
        environment["AWS_ENDPOINT_URL_LAMBDA"] = endpoint.url
        # Before the first tick and requests, so that their jobs are printed too.
        arrivals = Arrivals(database := Database(url), show)
        # After the functions, which enqueue until they end, and before Postgres.
        stack.callback(arrivals.count)
        functions = stack.enter_context(serve_functions(plan, show.log, environment, stop))
        pools |= functions.by_name
        api = stack.enter_context(_serve(plan.functions / "api", "app:app", plan.port, environment, stop))
        application = stack.enter_context(_application(plan, environment, stop))
        # The API checks the kinds and payloads that it enqueues.
        applications = [api, application] if application else [api]
        _announce(plan, console, api, application, stop)
        _seed(plan, database, receiver)
        _watch(plan, show, arrivals, Reload(watch, list(pools.values()), applications, show), stop)
        functions.worker.stop()
        show.stopping(functions.worker.running)
    console.print(f"\nstopped: {show.summary()}")
    return INTERRUPTED if functions.interrupted else OK


def _announce(
    plan: Plan, console: Console, api: Application, application: Application | None, stop: LocalStop
) -> None:
    """Print the addresses when they accept connections, unless `stop` is set before."""
    started = application is None or application.accepts(stop)
    api.accepts(stop)
    if stop.is_set():
        return
    if application and started:
        console.print(f"your API    http://127.0.0.1:{application.port}  ({application.target})")
    elif application:
        console.print(
            f"your API    {application.target} did not start, see the error above; it starts again after a change"
        )
    console.print(f"API         http://127.0.0.1:{plan.port}  (accessible from this machine only)")
    console.print(f"console     http://127.0.0.1:{plan.port}/console")
    console.print(f"ticks       every {plan.every:g} s; on AWS every minute\n")


def _serve(
    directory: Path, target: str, port: int, environment: dict[str, str], stop: LocalStop
) -> AbstractContextManager[Application]:
    return serve(directory, target, port, environment, urgent=stop.is_urgent)


@contextmanager
def _application(plan: Plan, environment: dict[str, str], stop: LocalStop) -> Iterator[Application | None]:
    """Serve the team's own application, if the project names one."""
    if not plan.configuration.app:
        yield None
        return
    port = find_app_port(plan.port)
    with _serve(plan.root, plan.configuration.app, port, environment, stop) as application:
        yield application


def _seed(plan: Plan, database: Database, receiver: Receiver) -> None:
    """Enqueue the example webhooks, if the project has them."""
    for job in seed_jobs(plan.root, receiver.url) if plan.seed and has_seed(plan.root) else []:
        enqueue(**job, connection=database)


def _watch(plan: Plan, show: Show, arrivals: Arrivals, reload: Reload, stop: LocalStop) -> None:
    """Print new jobs, and load changed code, until `stop` is set."""
    hinted = more = False
    while not stop.wait(0 if more else WATCH_SECONDS):
        reload.check(stop)
        more = arrivals.print()
        if not more and arrivals.are_finished():
            if plan.until_idle:
                stop.set()
            elif not hinted:
                show.hint(plan.port)
            hinted = True
