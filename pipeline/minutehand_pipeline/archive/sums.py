"""Sums of rows that are the same in Postgres and in Spark, so that what was written is compared with what was there.

A row's checksum is a number of 60 bits from the md5 of all its columns' texts; its identity one from its key and ack
alone. Sums add up over batches, and hang neither on the rows' order nor on who added them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from minutehand.database import Connection, sql
from minutehand_pipeline.archive.private import PERSONAL, PRIVATE, SUBJECT, Erased
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.sources.columns import EXPRESSIONS

BETWEEN, NOTHING = "\x1f", "\x1e"  # neither is in JSON, nor in what names something
EXACT = T.DecimalType(38, 0)
MICROS = 1_000_000

# Of each home a number and a text whose sums people understand, when the checksums differ.
COUNTED = {"jobs_done": "attempts", "attempts": "attempt", "events": None}
WEIGHED = {"jobs_done": "payload", "attempts": "error", "events": "facts"}
IDENTITY = {
    "jobs_done": ("id", "deleted", "ack"),
    "attempts": ("job", "ended", "attempt"),
    "events": ("id", "at"),
}


@dataclass(frozen=True)
class Sums:
    """Of some rows: how many, their attempts, the bytes of their payloads, their checksums and their identities."""

    rows: int = 0
    attempts: int = 0
    bytes: int = 0
    checksum: int = 0
    identity: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        """Return the sums of both."""
        return Sums(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    def differences(self, other: "Sums") -> list[str]:
        """Return what differs, as `rows 10 and 9`."""
        return [
            f"{each.name} {getattr(self, each.name)} and {getattr(other, each.name)}"
            for each in fields(self)
            if getattr(self, each.name) != getattr(other, each.name)
        ]


def sum_frame(frame: DataFrame, home: Home) -> Sums:
    """Return the sums of a frame with a home's columns."""
    counted, weighed = COUNTED[home.name], WEIGHED[home.name]
    told = frame.agg(
        F.count(F.lit(1)),
        F.sum(F.col(counted).cast("long") if counted else F.lit(0)),
        F.sum(F.octet_length(weighed).cast("long")),
        F.sum(_number(home, home.schema.names, BETWEEN, NOTHING)),
        F.sum(_number(home, IDENTITY[home.name], " ", "-")),
    ).first()
    return Sums(*(int(value or 0) for value in told or ()))


def identify_frame(frame: DataFrame, home: Home) -> Sums:
    """Return how many rows a frame has, and their identities' sum; the other sums are not looked at."""
    told = frame.agg(F.count(F.lit(1)), F.sum(_number(home, IDENTITY[home.name], " ", "-"))).first()
    rows, identity = told or (0, 0)
    return Sums(rows=rows, identity=int(identity or 0))


def sum_database(connection: Connection, home: Home, day: date, erased: Erased) -> Sums:
    """Return the sums of a UTC day's rows as they are to be in the lake, in the connection's transaction."""
    columns = {each.name: _expression(home, each.name) for each in home.schema}
    text = sql.SQL(
        "select count(*), sum({counted}), sum(octet_length({weighed})), sum(minutehand.as_number({all})),"
        " sum(minutehand.as_number({identity})) from {rows}"
    ).format(
        counted=sql.SQL(COUNTED[home.name] or "0"),
        weighed=columns[WEIGHED[home.name]],
        all=_text(home, columns, home.schema.names, BETWEEN, NOTHING),
        identity=_text(home, columns, IDENTITY[home.name], " ", "-"),
        rows=rows_of_day(home),
    )
    asked = {"day": day, "jobs": list(erased.jobs), "tenants": list(erased.tenants)}
    return Sums(*(int(Decimal(value or 0)) for value in connection.execute(text, asked).fetchone() or ()))


def count_database(connection: Connection, home: Home, day: date) -> int:
    """Return how many rows a UTC day has, which an index answers alone."""
    text = sql.SQL("select count(*) from {}").format(rows_of_day(home))
    [(count,)] = connection.execute(text, {"day": day}).fetchall()
    return int(count)


def rows_of_day(home: Home) -> sql.Composed:
    """Return what follows `from`: a home's rows of %(day)s. Through the parent, whose policies hold for who asks."""
    return sql.SQL(
        "{home} where {dated} >= %(day)s::date::timestamp at time zone 'UTC'"
        " and {dated} < (%(day)s::date + 1)::timestamp at time zone 'UTC'{done}"
    ).format(
        home=sql.Identifier("minutehand", "jobs" if home.name == "jobs_done" else home.name),
        dated=sql.Identifier(home.dated),
        done=sql.SQL(" and deleted is not null" if home.name == "jobs_done" else ""),
    )


def _number(home: Home, names: Sequence[str], between: str, nothing: str) -> Column:
    texts = [F.coalesce(_canonical(home.schema[name]), F.lit(nothing)) for name in names]
    return F.conv(F.substring(F.md5(F.concat_ws(between, *texts)), 1, 15), 16, 10).cast(EXACT)


def _canonical(field: T.StructField) -> Column:
    column = F.col(field.name)
    match field.dataType:
        case T.TimestampType():
            column = F.unix_micros(column)
        case T.DoubleType():
            column = F.round(column * MICROS).cast("long")
    return column.cast("string")


def _text(
    home: Home, columns: Mapping[str, sql.Composable], names: Sequence[str], between: str, nothing: str
) -> sql.Composable:
    texts = [
        sql.SQL("coalesce({}, {})").format(
            _canonical_sql(home.schema[name], columns[name]), sql.Literal(nothing)
        )
        for name in names
    ]
    return sql.SQL("concat_ws({}, {})").format(sql.Literal(between), sql.SQL(", ").join(texts))


def _canonical_sql(field: T.StructField, expression: sql.Composable) -> sql.Composable:
    match field.dataType:
        case T.TimestampType():
            return sql.SQL("minutehand.as_micros({})::text").format(expression)
        case T.DoubleType():
            return sql.SQL("round(({}) * 1000000)::bigint::text").format(expression)
    return sql.SQL("({})::text").format(expression)


def _expression(home: Home, name: str) -> sql.Composable:
    """Return a column as the lake is to have it: null where it is private of somebody erased, or personal."""
    said = sql.SQL(EXPRESSIONS[home.name][name])
    if name not in PRIVATE[home.name]:
        return said
    gone = sql.SQL(
        "coalesce({}::text = any (%(jobs)s::text[]), false) or tenant = any (%(tenants)s::text[])"
    ).format(sql.Identifier(SUBJECT[home.name]))
    if name in PERSONAL:
        gone = sql.SQL("{} or personal").format(gone)
    return sql.SQL("case when not ({}) then {} end").format(gone, said)
