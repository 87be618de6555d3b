"""The file of rejected rows without Spark: whose it is, what is in it, and what is said where it cannot be written."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand.database import Database
from minutehand_pipeline.cli.results import file_at
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.load import files
from minutehand_pipeline.load.files import Piece, list_files, pieces
from minutehand_pipeline.load.rejects import check_file, write_rejects
from tests.servers import Database as Address

OTHERS = "of another load"


@pytest.fixture
def database(direct_database: Address) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as opened:
        yield opened


def rejected(database: Database, *rows: tuple[int, int, str | None]) -> str:
    """Stage rejected rows, each its slice, its line there and its raw; return the run."""
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
    return pieces(list_files([str(path)], None))


def test_a_load_without_rejects_leaves_the_file_of_another_one(database: Database, tmp_path: Path) -> None:
    there, nothing = tmp_path / "rejects.ndjson", tmp_path / "other.ndjson"
    there.write_text(OTHERS)
    run = rejected(database)

    write_rejects(database, run, [], there)
    write_rejects(database, run, [], nothing)

    assert there.read_text() == OTHERS and not nothing.exists()


def test_a_load_with_rejects_replaces_the_file_and_tells_what_stands_in_each_line(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIECE", 25)
    path, there = tmp_path / "jobs.csv", tmp_path / "rejects.ndjson"
    path.write_bytes(b"kind,key\n" + b"".join(b"k%d,\xff%d\r\n" % (n, n) for n in range(12)))
    there.write_text(OTHERS * 1000)
    run = rejected(database, (0, 1, None), (0, 3, "kept"), (0, 4, None), (2, 2, None))

    write_rejects(database, run, cut(path), there)

    told = [json.loads(line) for line in there.read_text().splitlines()]
    assert [(each["line"], each["raw"]) for each in told] == [
        (2, "k0,\ufffd0"), (4, "kept"), (5, "k3,\ufffd3"), (11, "k9,\ufffd9"),
    ]  # fmt: skip


def test_a_row_of_parquet_is_told_by_its_number_alone(database: Database, tmp_path: Path) -> None:
    pq.write_table(pa.table({"kind": ["9", "a"]}), tmp_path / "jobs.parquet")
    run = rejected(database, (0, 2, None))

    write_rejects(database, run, cut(tmp_path / "jobs.parquet"), tmp_path / "rejects")

    assert json.loads((tmp_path / "rejects").read_text()) == {"source": "s", "line": 2, "reason": "why"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere/rejects.ndjson", "No such file or directory"),
        ("jobs.csv/rejects.ndjson", "Not a directory"),
        ("folder", "is a folder: --rejects is a file"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_beforehand_and_said_afterwards(
    database: Database, tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "jobs.csv").write_text("kind\n9\n")
    (tmp_path / "folder").mkdir()

    with pytest.raises(InputError, match=says):
        check_file(tmp_path / name)
    with pytest.raises(InputError, match="the same load again, with another --rejects, writes them"):
        write_rejects(database, rejected(database, (0, 1, None)), cut(tmp_path / "jobs.csv"), tmp_path / name)


def test_to_look_whether_a_file_can_be_written_leaves_everything_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "there").write_text(OTHERS)

    check_file(tmp_path / "there")
    check_file(tmp_path / "new")
    check_file(Path("/dev/null"))

    assert [each.name for each in tmp_path.iterdir()] == ["there"] and (
        tmp_path / "there"
    ).read_text() == OTHERS


@pytest.mark.usefixtures("store")
def test_a_bucket_that_is_not_there_is_said_before_anything_is_loaded() -> None:
    with pytest.raises(LakeError, match="s3://none/rejects"), file_at("s3://none/rejects.ndjson"):
        raise AssertionError("it began")
