"""Places: every part of the code that repeats the job options of `NewJob`, and the options that each part has.

As a program, print the places that lack an option.
"""

import inspect
import re
from collections.abc import Iterator

from minutehand.cli.commands.enqueue import enqueue as command
from minutehand.enqueue import enqueue
from minutehand.functions.api.schemas.enqueue import JobOptions
from minutehand.model.job_options import JobOptions as EnqueueOptions
from minutehand.model.new_job import OPTIONS
from tests.unit.option_place import LIBRARY, STORED, TEXTS, Place, between, function, names, text
from tests.unit.option_results import result_places

# A job of a batch, or after others, has no key and no recurrence.
KEYED = STORED - {"batch", "after", "after_failure"}
# Of jobs that no other job matters to.
PLAIN = STORED - {"key", "every", "zone", "after", "after_failure"}
# Of each job of a bulk.
OWN = {"payload", "run_at", "batch"}
# A conflicting job has these values already.
REPLACED = KEYED - {"queue", "key", "tenant"}
# A value or its defaults, cast to a domain.
CAST = r"\b(\w+)\"?(?:, [\w., ']+\))?::minutehand\."
# Options of `minutehand enqueue` that have another name there.
CLI_NAMES = {"at": "run_at", "strategy": "retry"}


def missing() -> list[str]:
    """Return every edit that the declared options still need."""
    return [edit for place in places() for edit in place.missing()]


def places() -> Iterator[Place]:
    """Yield every place, in the order of CONTRIBUTING.md."""
    declared = set(OPTIONS)
    call = between(inspect.getsource(enqueue), "NewJob(", ")\n")
    yield Place(f"{LIBRARY}/enqueue.py", "the parameters of enqueue", set(python_parameters()), declared)
    yield Place(f"{LIBRARY}/enqueue.py", "NewJob(...) in enqueue", names(call, r"(\w+)=\1\b"), declared)
    typed = {"kind", "payload", *EnqueueOptions.__annotations__}
    yield Place(f"{LIBRARY}/model/job_options.py", "JobOptions", typed, declared)
    yield from _tables()
    yield from _enqueue(declared)
    yield from _put_all()
    yield from _plain()
    yield from _alike()
    yield from _casts()
    yield from _copies()
    yield from _loads()
    yield from _other_languages(declared)
    yield from result_places()


def _tables() -> Iterator[Place]:
    folder = f"{LIBRARY}/schema/migrations"
    yield Place(folder, "the table new_jobs, in a new migration", set(columns("new_jobs")), set(OPTIONS))
    yield Place(folder, "the table jobs, in a new migration", set(columns("jobs")), STORED)


def _enqueue(declared: set[str]) -> Iterator[Place]:
    file = f"{LIBRARY}/schema/functions/enqueue.sql"
    items = names(function("enqueue", "enqueue"), r"item\.(\w+) := enqueue\.\1;")
    yield Place(file, "the parameters of enqueue", set(sql_parameters()), declared)
    yield Place(file, "the item of enqueue", items, declared - {"on_conflict"})
    flow = f"{LIBRARY}/sql/flow"
    arguments = names(text(f"{flow}/enqueue.sql"), r"\b(\w+)\"? => %\(\1\)s")
    yield Place(f"{flow}/enqueue.sql", "the arguments", arguments, declared)
    yield Place(f"{flow}/copy_incoming.sql", "the columns", set(copied()), declared)


def _put_all() -> Iterator[Place]:
    file, body = f"{LIBRARY}/schema/functions/put_all.sql", function("put_all", "put_all")
    insert, select = between(body, "jobs_live as j\n", "\n          from").split(")\n        select ")
    update = between(body, "do update set", "where put_all")
    old, new = between(body, "or (j.", "returning").split("is distinct from")
    requested = names(between(body, "requested as", "keyed as"), r"\bi\.(\w+)")
    yield Place(file, "put_all, as i.<name> in `requested`", requested, STORED)
    yield Place(file, "put_all, the inserted columns", names(insert), STORED)
    yield Place(file, "put_all, the selected columns", names(select), STORED)
    yield Place(file, "put_all, `do update set`", names(update, r"\b(\w+)\"? = "), REPLACED)
    yield Place(file, "put_all, the old values compared", names(f"j.{old}", r"\bj\.(\w+)"), REPLACED)
    yield Place(file, "put_all, the new values compared", names(new, r"\bexcluded\.(\w+)"), REPLACED)


def _plain() -> Iterator[Place]:
    file, body = f"{LIBRARY}/schema/functions/plain.sql", function("plain", "enqueue_plain")
    insert, select = between(body, "jobs_live\n", "\n      from").split(")\n    select ")
    call = between(function("enqueue", "enqueue"), "enqueue_plain(", ");")
    flow = f"{LIBRARY}/sql/flow/enqueue_plain.sql"
    arguments = names(text(flow), r"\b(\w+)\"? => %\(\1\)s")
    yield Place(file, "the parameters of enqueue_plain", names(body.partition("returns")[0]), PLAIN)
    yield Place(file, "enqueue_plain, the inserted columns", names(insert), PLAIN)
    # The time and the tenant are computed.
    yield Place(file, "enqueue_plain, the selected columns", names(select), PLAIN - {"run_at", "tenant"})
    yield Place(f"{LIBRARY}/schema/functions/enqueue.sql", "the call of enqueue_plain", names(call), PLAIN)
    yield Place(flow, "the arguments", arguments, PLAIN)


def _alike() -> Iterator[Place]:
    file, body = f"{LIBRARY}/schema/functions/alike.sql", function("alike", "enqueue_alike")
    insert, select = between(body, "jobs_live\n", "\n      from").split(")\n    select ")
    defaults = between(body, "into job.", "from minutehand.settings")
    assigned = names(body, r"\bjob\.(\w+) :=") | names(f"job.{defaults}", r"\bjob\.(\w+)")
    yield Place(file, "enqueue_alike, the assignments to `job`", assigned, PLAIN - OWN)
    yield Place(file, "enqueue_alike, the inserted columns", names(insert), PLAIN)
    yield Place(file, "enqueue_alike, the selected columns", names(select), PLAIN)


def _casts() -> Iterator[Place]:
    """Yield the functions that write a text which its column does not limit: a cast to a domain must do so."""
    unlimited = unlimited_texts()
    functions = f"{LIBRARY}/schema/functions"
    requested = between(function("put_all", "put_all"), "requested as", "keyed as")
    plain, alike = function("plain", "enqueue_plain"), function("alike", "enqueue_alike")
    yield Place(
        f"{functions}/put_all.sql", "the casts of put_all to domains", names(requested, CAST), unlimited
    )
    yield Place(
        f"{functions}/plain.sql",
        "the casts of enqueue_plain to domains",
        names(plain, CAST),
        unlimited & PLAIN,
    )
    yield Place(
        f"{functions}/alike.sql",
        "the casts of enqueue_alike to domains",
        names(alike, CAST),
        (unlimited & PLAIN) - OWN,
    )


def _copies() -> Iterator[Place]:
    file = f"{LIBRARY}/schema/functions/jobs.sql"
    insert, values = between(function("jobs", "create_occurrence"), "jobs_live\n", "on conflict").split(
        "values"
    )
    yield Place(file, "create_occurrence, the inserted columns", names(insert), KEYED)
    # The next occurrence has a time of its own.
    yield Place(file, "create_occurrence, the values", names(values, r"\bjob\.(\w+)"), KEYED - {"run_at"})
    # A copy does not recur, and its batch may have ended.
    copied = names(function("jobs", "copy_of"), r"item\.(\w+) := (?:coalesce\()?\w+\.\1\b")
    yield Place(file, "the item of copy_of", copied, KEYED - {"every", "zone"})


def _loads() -> Iterator[Place]:
    file, body = f"{LIBRARY}/schema/functions/loads.sql", function("loads", "load_conflict_action")
    update, compared = between(body, "do update set", "$q$").split("where j.attempts")
    yield Place(file, "load_conflict_action, `do update set`", names(update, r"\b(\w+)\"? = "), REPLACED)
    yield Place(file, "load_conflict_action, the values compared", names(compared, r"\bj\.(\w+)"), REPLACED)


def _other_languages(declared: set[str]) -> Iterator[Place]:
    cli = {CLI_NAMES.get(each.name or "", each.name or "") for each in command.params}
    tables = re.findall(r"^\| (.*?) \|", text("docs/jobs.md") + text("docs/keys.md"), re.MULTILINE)
    yield Place(
        f"{LIBRARY}/functions/api/schemas/enqueue.py", "JobOptions", set(JobOptions.model_fields), declared
    )
    yield Place(f"{LIBRARY}/cli/commands/enqueue.py", "the options of the command", cli, declared)
    yield Place("docs/jobs.md", "the table of fields", names(" ".join(tables), r"`(\w+)`"), declared)
    tested = names(text("tests/queue/test_options.py"), r'"(\w+)": check_')
    yield Place("tests/queue/test_options.py", "OPTIONS, with a test", tested, declared)


def python_parameters() -> list[str]:
    """Return the parameters of enqueue() that are options."""
    return [name for name in inspect.signature(enqueue).parameters if name != "connection"]


def sql_parameters() -> dict[str, str]:
    """Return the parameters of minutehand.enqueue(), with their types."""
    signature = function("enqueue", "enqueue").partition("\n) returns")[0]
    return dict(re.findall(r"^ {4}\"?(\w+)\"? +(\w+(?:\[\])?)", signature, re.MULTILINE))


def columns(table: str) -> dict[str, str]:
    """Return the columns of a table of the dump, with their types."""
    lines = between(text(f"{LIBRARY}/schema/schema.sql"), f"TABLE minutehand.{table} (\n", "\n)")
    return dict(
        re.findall(r"^ {4}\"?([a-z]\w*)\"? (timestamp with time zone|[\w.]+(?:\[\])?)", lines, re.MULTILINE)
    )


def unlimited_texts() -> set[str]:
    """Return the options whose columns of jobs have a type of texts, and not a domain, which may limit them."""
    return {name for name, kind in columns("jobs").items() if name in STORED and kind in TEXTS}


def copied() -> list[str]:
    """Return the columns of COPY."""
    return re.findall(r"\w+", between(text(f"{LIBRARY}/sql/flow/copy_incoming.sql"), "(", ")"))


if __name__ == "__main__":
    print("\n".join(missing()))
