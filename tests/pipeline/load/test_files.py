"""Files without Spark: which a path names, in which order, and what stands in each piece; on a disk and in a bucket."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from moto.server import ThreadedMotoServer

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load import files
from minutehand_pipeline.load.files import identity, list_files, pieces
from minutehand_pipeline.load.ledger import lines_before
from minutehand_pipeline.load.rows import reader


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, said in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, said)
    client = boto3.client("s3")
    client.create_bucket(Bucket="lake")
    yield client
    server.stop()


def rows(paths: list[str], kind: str | None = None) -> list[dict[str, Any]]:
    cut = pieces(list_files(paths, None), kind)
    numbers = pa.record_batch([pa.array(range(len(cut)))], names=["id"])
    told = [row for batch in reader(cut, None, kind)(iter([numbers])) for row in batch.to_pylist()]
    for row in told:
        row["line"] += lines_before(cut[row["slice"]])
    return told


def test_a_bucket_is_read_as_a_folder_is(bucket) -> None:
    bucket.put_object(Bucket="lake", Key="in/2026/b.ndjson", Body=b'{"kind": "b"}\n{"kind": "c"}')
    bucket.put_object(Bucket="lake", Key="in/a.csv", Body=b"kind,key\na,k\n")
    bucket.put_object(Bucket="lake", Key="in/_SUCCESS", Body=b"")

    folder = rows(["s3://lake/in/"])
    assert [row["kind"] for row in folder] == ["b", "c", "a"]
    assert [row["source"] for row in folder] == ["s3://lake/in/2026/b.ndjson"] * 2 + ["s3://lake/in/a.csv"]
    assert [row["kind"] for row in rows(["s3://lake/in/*.csv"])] == ["a"]
    assert [row["kind"] for row in rows(["s3://lake/in/a.csv"])] == ["a"]
    with pytest.raises(InputError, match="names no file"):
        rows(["s3://lake/other"])
    with pytest.raises(InputError, match="cannot be opened"):
        rows(["what://lake/other"])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 34, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wherever_a_file_is_cut_each_line_is_read_once_with_its_number(
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


def test_a_load_without_a_name_is_known_by_its_files_and_terms(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(json.dumps({"kind": "a"}))
    one = list_files([str(tmp_path)], None)

    assert identity(one, "replace") == identity(list_files([str(tmp_path / "*")], None), "replace")
    assert identity(one, "replace") != identity(one, "ignore")
    (tmp_path / "a.ndjson").write_text(json.dumps({"kind": "abc"}))
    assert identity(one) != identity(list_files([str(tmp_path)], None))


def test_a_name_that_looks_like_a_pattern_is_the_file_of_that_name_first(tmp_path: Path) -> None:
    (tmp_path / "jobs[1].csv").write_text("kind\nexact\n")
    (tmp_path / "jobs1.csv").write_text("kind\nmatching\n")

    assert [row["kind"] for row in rows([str(tmp_path / "jobs[1].csv")])] == ["exact"]
    (tmp_path / "jobs[1].csv").unlink()
    assert [row["kind"] for row in rows([str(tmp_path / "jobs[1].csv")])] == ["matching"]


def test_a_cell_may_be_as_large_as_a_payload(tmp_path: Path) -> None:
    before = csv.field_size_limit(1000)  # of this process; those of tasks begin with 128 KiB
    (tmp_path / "a.csv").write_text(f'kind,payload\na,"""{"x" * 200_000}"""\n')

    [row] = rows([str(tmp_path / "a.csv")])

    assert row["fault"] is None and len(row["payload"]) == 200_002
    csv.field_size_limit(before)


def test_the_kind_may_be_said_for_all_rows_that_say_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,kind\n1,\n2,own\n")
    (tmp_path / "b.csv").write_text("key\n3\n")
    (tmp_path / "c.ndjson").write_text('{"key": 4}\n')

    found = rows([str(tmp_path)], kind="said")
    assert [(row["key"], row["kind"]) for row in found] == [
        ("1", "said"),
        ("2", "own"),
        ("3", "said"),
        ("4", "said"),
    ]
    with pytest.raises(InputError, match="has no column kind"):
        rows([str(tmp_path)])
