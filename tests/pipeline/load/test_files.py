"""List and split files, on disk and in a bucket. These tests run without Spark."""

import csv
import json
import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load import files
from minutehand_pipeline.load.files import identity, lines_before, list_files, split_files
from minutehand_pipeline.load.rows import reader

# A user without rights; root may read every file.
NOBODY = 65534


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="lake")
    yield client
    server.stop()


def rows(paths: list[str], kind: str | None = None) -> list[dict[str, Any]]:
    pieces = split_files(list_files(paths, None), kind)
    numbers = pa.record_batch([pa.array(range(len(pieces)))], names=["id"])
    found = [row for batch in reader(pieces, None, kind)(iter([numbers])) for row in batch.to_pylist()]
    for row in found:
        row["line"] += lines_before(pieces[row["slice"]])
    return found


def test_bucket_is_read_like_a_folder(bucket) -> None:
    bucket.put_object(Bucket="lake", Key="in/2026/b.ndjson", Body=b'{"kind": "b"}\n{"kind": "c"}')
    bucket.put_object(Bucket="lake", Key="in/a.csv", Body=b"kind,key\na,k\n")
    bucket.put_object(Bucket="lake", Key="in/_SUCCESS", Body=b"")

    folder = rows(["s3://lake/in/"])
    assert [row["kind"] for row in folder] == ["b", "c", "a"]
    assert [row["source"] for row in folder] == ["s3://lake/in/2026/b.ndjson"] * 2 + ["s3://lake/in/a.csv"]
    assert [row["kind"] for row in rows(["s3://lake/in/*.csv"])] == ["a"]
    assert [row["kind"] for row in rows(["s3://lake/in/a.csv"])] == ["a"]
    with pytest.raises(InputError, match="no file matches"):
        rows(["s3://lake/other"])
    with pytest.raises(InputError, match="cannot be opened"):
        rows(["what://lake/other"])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 34, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_split_file_yields_each_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, end: str
) -> None:
    monkeypatch.setattr(files, "PIECE", size)
    lines = [f'{{"kind": "k{n}"}}' if n % 4 else "" for n in range(12)]
    (tmp_path / "a.ndjson").write_bytes(b"\xef\xbb\xbf" + end.join(lines).encode())
    (tmp_path / "a.csv").write_bytes(end.join(["kind,key", *(f"k{n}," for n in range(8))]).encode())

    found = rows([str(tmp_path / "a.ndjson")])
    assert [(row["kind"], row["line"]) for row in found] == [(f"k{n}", n + 1) for n in range(12) if n % 4]
    found = rows([str(tmp_path / "a.csv")])
    assert [(row["kind"], row["line"]) for row in found] == [(f"k{n}", n + 2) for n in range(8)]


def test_unnamed_load_is_identified_by_files_and_terms(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(json.dumps({"kind": "a"}))
    one = list_files([str(tmp_path)], None)

    assert identity(one, "replace") == identity(list_files([str(tmp_path / "*")], None), "replace")
    assert identity(one, "replace") != identity(one, "ignore")
    (tmp_path / "a.ndjson").write_text(json.dumps({"kind": "abc"}))
    assert identity(one) != identity(list_files([str(tmp_path)], None))


def test_existing_file_takes_precedence_over_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "jobs[1].csv").write_text("kind\nexact\n")
    (tmp_path / "jobs1.csv").write_text("kind\nmatching\n")

    assert [row["kind"] for row in rows([str(tmp_path / "jobs[1].csv")])] == ["exact"]
    (tmp_path / "jobs[1].csv").unlink()
    assert [row["kind"] for row in rows([str(tmp_path / "jobs[1].csv")])] == ["matching"]


def test_csv_cell_may_be_as_large_as_a_payload(tmp_path: Path) -> None:
    before = csv.field_size_limit(1000)  # tasks start with the default of 128 KiB
    (tmp_path / "a.csv").write_text(f'kind,payload\na,"""{"x" * 200_000}"""\n')

    [row] = rows([str(tmp_path / "a.csv")])

    assert row["fault"] is None and len(row["payload"]) == 200_002
    csv.field_size_limit(before)


def test_kind_option_applies_to_rows_without_kind(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,kind\n1,\n2,own\n")
    (tmp_path / "b.csv").write_text("key\n3\n")
    (tmp_path / "c.ndjson").write_text('{"key": 4}\n')

    found = rows([str(tmp_path)], kind="given")
    assert [(row["key"], row["kind"]) for row in found] == [
        ("1", "given"),
        ("2", "own"),
        ("3", "given"),
        ("4", "given"),
    ]
    with pytest.raises(InputError, match="must have a column named kind"):
        rows([str(tmp_path)])


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("payload", [{"n": 1}], "struct<n: int64>; expected string"),
        ("personal", ["yes"], "string; expected boolean"),
        ("run_at", [date(2026, 3, 31)], "date32[day]; expected timestamp or string"),
        ("delay", [True], "bool; expected number or string"),
    ],
)
def test_unsupported_type_is_reported_with_the_expected_ones(
    tmp_path: Path, column: str, values: list[Any], expected: str
) -> None:
    pq.write_table(pa.table({"kind": ["a"], column: values}), tmp_path / "jobs.parquet")

    with pytest.raises(InputError, match=re.escape(f"{column} has the unsupported type {expected}")):
        rows([str(tmp_path)])


def test_lone_surrogate_in_a_key_is_reported_by_its_rule(tmp_path: Path) -> None:
    (tmp_path / "jobs.ndjson").write_text('{"kind": "a", "key": "\\ud800"}')

    [row] = rows([str(tmp_path)])
    assert row["fault"] == "text must be valid Unicode without NUL characters"


def test_cell_with_a_line_break_is_reported_as_not_closed(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text('kind,payload\na,"[1,\n2]"\n')

    first, _ = rows([str(tmp_path)])
    assert first["fault"] == "a quoted cell is not closed; cells must not contain line breaks"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_file_without_read_permission_is_rejected(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("kind\na\n")
    (found,) = list_files([str(tmp_path / name)], None)
    (tmp_path / name).chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(InputError, match="cannot be read: permission denied"):
            split_files([found])
    finally:
        os.seteuid(user)
