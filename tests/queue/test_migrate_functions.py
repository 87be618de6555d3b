"""Functions and roles are applied again when their files change, and dropped when no file defines them."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from minutehand import DatabaseError, SchemaError
from minutehand.model.rules import SENTENCES
from minutehand.schema import steps as schema_steps
from minutehand.schema.migrate import check_schema, migrate, pending
from minutehand.schema.steps import Step, steps
from tests.queue.migrated import fresh
from tests.queue.stage import Queue

__all__ = ["fresh"]

NAMES = [step.name for step in steps()]
Change = Callable[..., None]


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Replace texts of the code's steps: `change({"functions/keys": text})`; None removes a step."""

    def apply(texts: dict[str, str | None], *, added: tuple[Step, ...] = ()) -> None:
        changed = tuple(
            replace(step, text=texts.get(step.name, step.text))  # type: ignore[arg-type]
            for step in steps()
            if texts.get(step.name, "") is not None
        )
        last = changed[-1]
        monkeypatch.setattr(schema_steps, "steps", lambda: (*changed[:-1], *added, last))
        monkeypatch.setattr("minutehand.schema.migrate.steps", lambda: (*changed[:-1], *added, last))

    return apply


def text(name: str) -> str:
    return next(step.text for step in steps() if step.name == name)


def functions(queue: Queue, name: str) -> list[str]:
    return [
        row["arguments"]
        for row in queue.sql(
            "select pg_get_function_identity_arguments(oid) as arguments from pg_proc"
            " where pronamespace = 'minutehand'::regnamespace and proname = %(name)s",
            name=name,
        )
    ]


def test_changed_function_is_applied_again_with_the_roles(fresh: Queue, change: Change) -> None:
    change({"functions/keys": text("functions/keys").replace("'00000000-", "'00000001-")})
    with pytest.raises(
        SchemaError, match=r"differs from this code in functions/keys; run: minutehand migrate"
    ):
        check_schema(fresh.database)

    assert [step.name for step in pending(fresh.database)] == ["functions/keys", "roles"]
    migrate(fresh.database)
    assert str(fresh.sql("select minutehand.no_job() as id")[0]["id"]).startswith("00000001-")
    assert migrate(fresh.database) == []


def test_changed_roles_alone_are_applied_again(fresh: Queue, change: Change) -> None:
    change({"roles": f"{text('roles')}comment on schema minutehand is 'changed';\n"})

    assert [step.name for step in migrate(fresh.database)] == ["roles"]
    assert fresh.sql("select obj_description('minutehand'::regnamespace) as is") == [{"is": "changed"}]


def test_old_signature_is_dropped(fresh: Queue, change: Change) -> None:
    change(
        {"functions/keys": text("functions/keys").replace("no_job()", "no_job(seed integer default 0)", 1)}
    )
    migrate(fresh.database)

    assert functions(fresh, "no_job") == ["seed integer"]


def test_old_signature_is_dropped_inside_a_transaction(fresh: Queue, change: Change) -> None:
    change(
        {"functions/keys": text("functions/keys").replace("no_job()", "no_job(seed integer default 0)", 1)}
    )
    with fresh.database.transaction():
        migrate(fresh.database)

    assert functions(fresh, "no_job") == ["seed integer"]
    assert functions(fresh, "reserve") != []


def test_return_type_changes_after_an_explicit_drop(fresh: Queue, change: Change) -> None:
    header = "create or replace function minutehand.no_job() returns"
    retyped = (
        text("functions/keys")
        .replace(f"{header} uuid", f"{header} text")
        .replace("select uuid '", "select '")
    )
    change({"functions/keys": retyped})
    with pytest.raises(DatabaseError, match="cannot change return type"):
        migrate(fresh.database)

    change(
        {"functions/keys": retyped.replace(header, f"drop function if exists minutehand.no_job();\n{header}")}
    )
    migrate(fresh.database)
    assert fresh.sql("select pg_typeof(minutehand.no_job())::text as is") == [{"is": "text"}]


def test_removed_functions_and_files_are_dropped(fresh: Queue, change: Change) -> None:
    new = "-- New.\ncreate or replace function minutehand.{name}() returns integer language sql as 'select 1';\n"
    extra = Step("functions/extra", new.format(name="extra_one") + new.format(name="extra_two"))  # type: ignore[arg-type]
    change({}, added=(extra,))
    migrate(fresh.database)
    assert functions(fresh, "extra_one") == functions(fresh, "extra_two") == [""]

    change({}, added=(replace(extra, text=new.format(name="extra_two")),))  # type: ignore[arg-type]
    migrate(fresh.database)
    assert (functions(fresh, "extra_one"), functions(fresh, "extra_two")) == ([], [""])

    change({})
    assert [step.name for step in migrate(fresh.database)] == ["roles"]
    assert functions(fresh, "extra_two") == []
    assert migrate(fresh.database) == []


def test_functions_of_others_stay(fresh: Queue, change: Change) -> None:
    fresh.sql("create function minutehand.theirs() returns integer language sql as 'select 1'")
    change({name: f"{text(name)}-- changed\n" for name in NAMES if name.startswith("functions/")})
    migrate(fresh.database)

    assert functions(fresh, "theirs") == [""]


def test_function_that_something_depends_on_is_not_dropped(fresh: Queue, change: Change) -> None:
    change(
        {"functions/base": text("functions/base").replace("is_retry(retry jsonb)", "is_retry(retry json)")}
    )
    with pytest.raises(DatabaseError, match=r"cannot drop function minutehand.is_retry\(jsonb\)"):
        migrate(fresh.database)

    assert functions(fresh, "is_retry") == ["retry jsonb"]


def test_bodies_of_all_functions_are_valid(fresh: Queue) -> None:
    definitions = fresh.sql(
        "select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'minutehand'::regnamespace"
    )
    fresh.sql("set check_function_bodies = on")
    for definition in definitions:
        fresh.sql(definition["text"])


def test_each_function_has_one_text_and_one_signature(fresh: Queue) -> None:
    defined = [name for step in steps() for name in step.functions]
    existing = [
        row["name"]
        for row in fresh.sql(
            "select proname::text as name from pg_proc where pronamespace = 'minutehand'::regnamespace"
        )
    ]

    assert sorted(defined) == sorted(existing)
    assert len(set(defined)) == len(defined)


def test_sql_and_python_have_the_same_sentences(fresh: Queue) -> None:
    rules = re.findall(
        r"^        when '(\w+)' then", text("functions/rules").split("is_every")[0], re.MULTILINE
    )
    sentences = {
        rule: fresh.sql("select minutehand.sentence(%(rule)s) as is", rule=rule)[0]["is"] for rule in rules
    }

    assert len(rules) > 15
    assert sentences == {rule: SENTENCES[rule] for rule in rules}
