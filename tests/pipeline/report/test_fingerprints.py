"""Errors of the same cause have the same fingerprint, and private parts of messages are hidden."""

import json
import re
from datetime import datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand.model.cause import MESSAGE_CHARACTERS, masked_cause
from minutehand_pipeline.report.failures import fingerprinted
from minutehand_pipeline.report.redaction import MAX_LENGTH
from tests.causes import CAUSES
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.parts import parts, tables

WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=7), min_size=1, max_size=4).map(
    " ".join
)
VARYING = {
    "number": st.integers(0, 10**12).map(str) | st.floats(0, 1e6).map(lambda value: f"{value:.3f}"),
    "uuid": st.uuids().map(str),
    "hex": st.integers(16, 2**64).map(hex),
    "text": st.text("abc XYZ 123 ünï <script>&", max_size=30).map(lambda value: f'"{value}"'),
    "single": st.text("abc XYZ 123", max_size=30).map(lambda value: f"'{value}'"),
    "mail": st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.[a-z]{2,3}", fullmatch=True),
    "time": st.datetimes(min_value=datetime(1970, 1, 1)).map(lambda value: value.isoformat() + "Z"),
    "digest": st.binary(min_size=8, max_size=16).map(lambda value: "a1" + value.hex()),
}


def errors(spark: SparkSession, messages: list[str | None]) -> DataFrame:
    rows = [(None if text is None else json.dumps({"type": "E", "message": text}),) for text in messages]
    return fingerprinted(spark.createDataFrame(rows, "error string"))


@st.composite
def alike(draw: st.DrawFn) -> tuple[str, str]:
    """Two messages that differ in varying parts only."""
    kinds = draw(st.lists(st.sampled_from([*VARYING]), min_size=1, max_size=4))
    words = [draw(WORDS) for _ in kinds]
    one, other = (
        " ".join(f"{text} {draw(VARYING[kind])}" for text, kind in zip(words, kinds, strict=True))
        for _ in range(2)
    )
    return one, other


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pairs=st.lists(alike(), min_size=20, max_size=60))
def test_varying_parts_do_not_change_the_fingerprint(
    spark: SparkSession, pairs: list[tuple[str, str]]
) -> None:
    frame = errors(spark, [message for pair in pairs for message in pair])

    rows = frame.select("message", "fingerprint").collect()

    for pair, one, other in zip(pairs, rows[::2], rows[1::2], strict=True):
        assert one["fingerprint"] == other["fingerprint"], (pair, one["message"], other["message"])
        assert not re.search("[0-9]", one["message"])
        assert len(one["message"]) <= MAX_LENGTH


MESSAGES = [
    ("no 'Conan O'Brien, Elm Street' here", "no <text> here"),
    ("no 'Smith & Sons' Bakery, Elm Street' here", "no <text> here"),
    ("no 'Smith & Sons' O'Elm' in the workers' queue", "no <text> in the workers' queue"),
    ("no 'it''s in Elm Street' here", "no <text> here"),
    ("no b'Elm' nor u'Elm' nor rb\"Elm\" here", "no <text> nor <text> nor <text> here"),
    ("no b'Conan O'Brien, Elm Street' here", "no <text> here"),
    ("near'Elm Street' it broke", "near<text> it broke"),
    ("name='Elm', street=[`Elm`] at 'Elm'.", "name=<text>, street=[<text>] at <text>."),
    ("cannot open `Elm Street': denied", "cannot open <text>: denied"),
    ('read "go to "Elm Street" twice" and left', "read <text> and left"),
    ('5" of "Elm Street" and 7" more', "<number><text> more"),
    (r'got "{\"name\": \"Elm\"}" back', "got <text> back"),
    (r"got {\"name\": \"Elm Street\"} back", "got {<text>: <text>} back"),
    (json.dumps(json.dumps({"name": "Elm"})), "<text>"),
    ("no \u201cElm\u201d here", "no <text> here"),
    ("no \u201eElm\u201c here", "no <text> here"),
    ("no \u2018O\u2019Brien Elm\u2019 here", "no <text> here"),
    ("no \u00bbElm\u00ab here", "no <text> here"),
    ("no \u300cElm\u300d here", "no <text> here"),
    ("it broke at 'Elm Street", "it broke at <text>"),
    ('it broke at"Elm Street', "it broke at<text>"),
    ("it broke at b'Elm Street", "it broke at <text>"),
    ("it broke at \u201eElm Street", "it broke at <text>"),
    (f"no '{'Elm ' * 800}' here", "no <text>"),
    (f"no 'Smith & Sons' Bakery{', Elm' * 600}' here", "no <text>"),
    (f"no {'1' * 1983} of josephine.elm@example.org", "no <number> of"),
    ("no 'Smith & Sons' Bakery, \"Elm\" Street' here", "no <text> here"),
    ("Key (name)=(Elm (Street)) is there.\nSo it is.", "Key (name)=(<text>) So it is."),
    ("no row contains (1, Elm Street).", "no row contains (<text>)"),
    ("of j\u00f6rg.m\u00fcller@example.com", "of <mail>"),
    ("of elm@m\u00fcller.de, elm@localhost and o'elm@x.org", "of <mail> <mail> and <mail>"),
    ("of https://x.org/?to=elm%40x.org", "of <mail>"),
    ("postgres://elm:elm@localhost/x", "<mail>"),
    ("don't: it isn't the queue's, nor 'Elm'", "don't: it isn't the queue's, nor <text>"),
]


def test_quoted_parts_of_messages_are_hidden_and_others_shown(spark: SparkSession) -> None:
    rows = errors(spark, [message for message, _ in MESSAGES]).select("message").collect()

    shown = [(message, row["message"]) for (message, _), row in zip(MESSAGES, rows, strict=True)]
    assert shown == MESSAGES


def test_report_shows_no_word_that_the_cause_in_logs_hides(spark: SparkSession) -> None:
    # A longer cause is cut elsewhere.
    lines = [message.partition("\n")[0] for message, _ in CAUSES if len(message) <= MESSAGE_CHARACTERS]
    rows = errors(spark, lines).select("message").collect()  # type: ignore[arg-type]

    for line, row in zip(lines, rows, strict=True):
        cause = masked_cause({"type": "E", "message": line})
        shown = re.sub("<[a-z]+>", "", row["message"])
        assert set(re.findall(r"\w+", shown)) <= set(re.findall(r"\w+", cause)), line


def test_other_text_or_type_has_another_fingerprint(spark: SparkSession) -> None:
    rows = [
        ('{"type": "A", "message": "no"}',),
        ('{"type": "B", "message": "no"}',),
        ('{"type": "A", "message": "yes"}',),
    ]

    frame = fingerprinted(spark.createDataFrame(rows, "error string"))

    assert frame.agg(F.count_distinct("fingerprint")).collect()[0][0] == 3


def test_missing_and_invalid_errors_get_a_type(spark: SparkSession) -> None:
    texts = [
        None,
        "not json",
        '"a text"',
        "[1]",
        '{"type": null}',
        '{"message": {"deep": [1]}}',
        json.dumps({"type": "T" * 9000, "message": "'" * 50_000 + "a.b@" * 9000}),
    ]

    rows = fingerprinted(spark.createDataFrame([(text,) for text in texts], "error string")).collect()

    assert [row["type"] for row in rows[:5]] == ["not recorded", *["unknown"] * 4]
    assert len(rows[6]["type"]) == MAX_LENGTH and len(rows[6]["message"]) <= MAX_LENGTH
    assert "deep" not in rows[5]["message"] or "<" in rows[5]["message"]


def test_failures_are_grouped_by_cause(
    spark: SparkSession,
) -> None:
    def error(number: int) -> str:
        return json.dumps({"type": "LookupError", "message": f"invoice {number}", "trace": "at line 1"})

    dead = {"state": "dead", "run_at": at("03-31 12:00:00")}
    jobs = jobs_frame(
        spark,
        {**dead, "id": "first", "deleted": at("03-31 12:00:01"), "error": error(1)},
        {**dead, "id": "last", "deleted": at("03-31 12:00:02"), "error": error(2), "kind": "bill"},
        {**dead, "id": "before", "deleted": at("03-30 12:00:02"), "error": error(2), "kind": "email"},
        {**dead, "id": "none", "deleted": at("03-31 12:00:03")},
        {"id": "well", "deleted": at("03-31 12:00:04"), "error": error(3)},  # it recovered
    )
    attempts = attempts_frame(
        spark,
        *({"job": "well", "ended": at("03-31 12:00:00"), "error": error(n)} for n in range(3)),
        {"job": "well", "ended": at("03-31 12:00:00"), "error": '{"type": "Other", "message": ""}'},
    )

    rows = tables(parts(("failures",), jobs, attempts))["failures"]

    assert [
        (row["type"], row["message"], row["deaths"], row["attempts"], row["example"]) for row in rows
    ] == [
        ("LookupError", "invoice <number>", 3, 3, "last"),
        ("not recorded", "", 1, 0, "none"),
        ("Other", "", 0, 1, None),
    ]
    assert rows[0]["kinds"] == ["bill", "email"]
    assert (rows[0]["first"], rows[0]["last"]) == (at("03-30 12:00:02"), at("03-31 12:00:02"))
    assert "secret" not in str(rows)
