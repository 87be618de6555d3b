"""Checksums of rows that Postgres and Spark compute alike, to compare written files with the database.

A row's checksum is a 60-bit number from the MD5 of all its columns as text. Its identity is computed the same way
from its key and ack alone. Sums can be added across batches and do not depend on the order of the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from minutehand.database import Connection, sql
from minutehand_pipeline.archive.private import PERSONAL, PRIVATE, SUBJECT, Subjects
from minutehand_pipeline.queue.columns import EXPRESSIONS
from minutehand_pipeline.queue.ranges import Pages, Selection, rows_of_pages
from minutehand_pipeline.schemas import Home

# Separator and null marker. Neither occurs in JSON or in names.
SEPARATOR, NULL = "\x1f", "\x1e"
EXACT = T.DecimalType(38, 0)
MICROS = 1_000_000

# For each home, a number and a text whose sums make an error message readable if the checksums differ.
COUNTED = {"jobs_done": "attempts", "attempts": "attempt", "events": None}
WEIGHED = {"jobs_done": "payload", "attempts": "error", "events": "facts"}
IDENTITY = {
    "jobs_done": ("id", "deleted", "ack"),
    "attempts": ("job", "ended", "attempt"),
    "events": ("id", "at"),
}


@dataclass(frozen=True)
class Sums:
    """Sums over rows: their number, attempts, payload bytes, checksums and identities."""

    rows: int = 0
    attempts: int = 0
    bytes: int = 0
    checksum: int = 0
    identity: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        """Add two sums."""
        return Sums(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    def differences(self, other: "Sums") -> list[str]:
        """Return the fields that differ, each as `rows 10 and 9`."""
        return [
            f"{each.name} {getattr(self, each.name)} and {getattr(other, each.name)}"
            for each in fields(self)
            if getattr(self, each.name) != getattr(other, each.name)
        ]


def sum_days(frame: DataFrame, home: Home) -> dict[date, Sums]:
    """Return the sums of each day of a frame with a home's columns."""
    counted, weighed = COUNTED[home.name], WEIGHED[home.name]
    found = frame.groupBy("day").agg(
        F.count(F.lit(1)),
        F.sum(F.col(counted).cast("long") if counted else F.lit(0)),
        F.sum(F.octet_length(weighed).cast("long")),
        F.sum(_number(home, home.schema.names, SEPARATOR, NULL)),
        F.sum(_number(home, IDENTITY[home.name], " ", "-")),
    )
    return {day: Sums(*(int(value or 0) for value in sums)) for day, *sums in found.collect()}


def identify_frame(frame: DataFrame, home: Home) -> Sums:
    """Return the number of rows and the sum of their identities only."""
    sums = frame.agg(F.count(F.lit(1)), F.sum(_number(home, IDENTITY[home.name], " ", "-"))).first()
    rows, identity = sums or (0, 0)
    return Sums(rows=rows, identity=int(identity or 0))


def sum_database(connection: Connection, home: Home, day: date, pages: Pages, erased: Subjects) -> Sums:
    """Return the sums of a UTC day's rows in some pages as the lake must have them, in the connection's transaction."""
    columns = {each.name: _expression(home, each.name) for each in home.schema}
    text = sql.SQL(
        "select count(*), sum({counted}), sum(octet_length({weighed})), sum(minutehand.as_number({all})),"
        " sum(minutehand.as_number({identity})) from {rows}"
    ).format(
        counted=sql.SQL(COUNTED[home.name] or "0"),
        weighed=columns[WEIGHED[home.name]],
        all=_text(home, columns, home.schema.names, SEPARATOR, NULL),
        identity=_text(home, columns, IDENTITY[home.name], " ", "-"),
        rows=rows_of_pages(Selection(home, (), day, day), pages),
    )
    parameters = {"jobs": list(erased.jobs), "tenants": list(erased.tenants)}
    return Sums(
        *(int(Decimal(value or 0)) for value in connection.execute(text, parameters).fetchone() or ())
    )


def count_database(connection: Connection, home: Home, day: date) -> tuple[int, str]:
    """Return the number of rows of a UTC day, with an index-only scan, and the snapshot of the count."""
    text = sql.SQL("select count(*), pg_current_snapshot()::text from {}").format(rows_of_day(home))
    [(count, snapshot)] = connection.execute(text, {"day": day}).fetchall()
    return int(count), str(snapshot)


def rows_of_day(home: Home) -> sql.Composed:
    """Return the FROM clause for a home's rows of %(day)s. It names the parent table, so row-level security applies."""
    return sql.SQL(
        "{home} where {dated} >= %(day)s::date::timestamp at time zone 'UTC'"
        " and {dated} < (%(day)s::date + 1)::timestamp at time zone 'UTC'{done}"
    ).format(
        home=sql.Identifier("minutehand", "jobs" if home.name == "jobs_done" else home.name),
        dated=sql.Identifier(home.dated),
        done=sql.SQL(" and deleted is not null" if home.name == "jobs_done" else ""),
    )


def _number(home: Home, names: Sequence[str], separator: str, null: str) -> Column:
    texts = [F.coalesce(_canonical(home.schema[name]), F.lit(null)) for name in names]
    return F.conv(F.substring(F.md5(F.concat_ws(separator, *texts)), 1, 15), 16, 10).cast(EXACT)


def _canonical(field: T.StructField) -> Column:
    column = F.col(field.name)
    match field.dataType:
        case T.TimestampType():
            column = F.unix_micros(column)
        case T.DoubleType():
            column = F.round(column * MICROS).cast("long")
    return column.cast("string")


def _text(
    home: Home, columns: Mapping[str, sql.Composable], names: Sequence[str], separator: str, null: str
) -> sql.Composable:
    texts = [
        sql.SQL("coalesce({}, {})").format(
            _canonical_sql(home.schema[name], columns[name]), sql.Literal(null)
        )
        for name in names
    ]
    return sql.SQL("concat_ws({}, {})").format(sql.Literal(separator), sql.SQL(", ").join(texts))


def _canonical_sql(field: T.StructField, expression: sql.Composable) -> sql.Composable:
    match field.dataType:
        case T.TimestampType():
            return sql.SQL("minutehand.as_micros({})::text").format(expression)
        case T.DoubleType():
            return sql.SQL("round(({}) * 1000000)::bigint::text").format(expression)
    return sql.SQL("({})::text").format(expression)


def _expression(home: Home, name: str) -> sql.Composable:
    """Return a column as the lake must have it: null if it is personal, or private data of an erased subject."""
    expression = sql.SQL(EXPRESSIONS[home.name][name])
    if name not in PRIVATE[home.name]:
        return expression
    erased = sql.SQL(
        "coalesce({}::text = any (%(jobs)s::text[]), false) or tenant = any (%(tenants)s::text[])"
    ).format(sql.Identifier(SUBJECT[home.name]))
    if name in PERSONAL:
        erased = sql.SQL("{} or personal").format(erased)
    return sql.SQL("case when not ({}) then {} end").format(erased, expression)
