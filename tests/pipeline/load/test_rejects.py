"""The file of rejected rows: its content, and the errors if it cannot be written. These tests run without Spark."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand.database import Database
from minutehand_pipeline.cli.outputs import output_file
from minutehand_pipeline.errors import InputError, LakeError, LoadError
from minutehand_pipeline.load import files
from minutehand_pipeline.load.files import Piece, list_files, split_files
from minutehand_pipeline.load.rejects import check_file, write_rejects
from tests.servers import Database as Address

OTHERS = "of another load"


@pytest.fixture
def database(direct_database: Address) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as opened:
        yield opened


def rejected(database: Database, *rows: tuple[int, int, str | None]) -> str:
    """Stage rejected rows, given as slice, line and raw text; return the run."""
    run = uuid4()
    with database.transaction() as connection:
        connection.execute("select minutehand.begin_load('l', %s)", [run])
        for slice, line, raw in rows:
            connection.execute(
                f"insert into minutehand.staged_{run.hex} (attempt, slice, ordinal, source, line, reason, raw)"
                " values ('a', %s, 0, 's', %s, 'why', %s)",
                [slice, line, raw],
            )
    return str(run)


def cut(path: Path) -> list[Piece]:
    return split_files(list_files([str(path)], None))


def test_rejects_file_is_unchanged_without_rejects(database: Database, tmp_path: Path) -> None:
    there, nothing = tmp_path / "rejects.ndjson", tmp_path / "other.ndjson"
    there.write_text(OTHERS)
    run = rejected(database)

    write_rejects(database, run, [], there)
    write_rejects(database, run, [], nothing)

    assert there.read_text() == OTHERS and not nothing.exists()


def test_rejects_file_has_line_numbers_and_texts(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIECE", 25)
    path, there = tmp_path / "jobs.csv", tmp_path / "rejects.ndjson"
    path.write_bytes(b"kind,key\n" + b"".join(b"k%d,\xff%d\r\n" % (n, n) for n in range(12)))
    there.write_text(OTHERS * 1000)
    run = rejected(database, (0, 1, None), (0, 3, "kept"), (0, 4, None), (2, 2, None))

    write_rejects(database, run, cut(path), there)

    rejects = [json.loads(line) for line in there.read_text().splitlines()]
    assert [(each["line"], each["raw"]) for each in rejects] == [
        (2, "k0,\ufffd0"),
        (4, "kept"),
        (5, "k3,\ufffd3"),
        (11, "k9,\ufffd9"),
    ]


def test_rejected_parquet_row_has_only_its_number(database: Database, tmp_path: Path) -> None:
    pq.write_table(pa.table({"kind": ["9", "a"]}), tmp_path / "jobs.parquet")
    run = rejected(database, (0, 2, None))

    write_rejects(database, run, cut(tmp_path / "jobs.parquet"), tmp_path / "rejects")

    assert json.loads((tmp_path / "rejects").read_text()) == {"source": "s", "line": 2, "reason": "why"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere/rejects.ndjson", "No such file or directory"),
        ("jobs.csv/rejects.ndjson", "Not a directory"),
        ("folder", "--rejects must be a file"),
    ],
)
def test_unwritable_rejects_file_is_reported(
    database: Database, tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "jobs.csv").write_text("kind\n9\n")
    (tmp_path / "folder").mkdir()

    with pytest.raises(InputError, match=says):
        check_file(tmp_path / name)
    with pytest.raises(LoadError, match="run the same load again with another --rejects"):
        write_rejects(database, rejected(database, (0, 1, None)), cut(tmp_path / "jobs.csv"), tmp_path / name)


def test_check_of_the_rejects_file_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").write_text(OTHERS)

    check_file(tmp_path / "there")
    check_file(tmp_path / "new")
    check_file(Path("/dev/null"))

    assert [each.name for each in tmp_path.iterdir()] == ["there"] and (
        tmp_path / "there"
    ).read_text() == OTHERS


@pytest.mark.usefixtures("store")
def test_missing_bucket_is_rejected_before_the_load() -> None:
    with pytest.raises(LakeError, match="s3://none/rejects"), output_file("s3://none/rejects.ndjson"):
        raise AssertionError("it began")
