"""Where a verb's results go: a folder of this machine, or an address of an object store."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from minutehand_pipeline.cli.report import report
from minutehand_pipeline.cli.results import file_at, folder_at
from minutehand_pipeline.cli.simulate import simulate
from minutehand_pipeline.errors import InputError, LakeError
from tests.pipeline.object_store import Store

OUT = "s3://minutehand/of/march"


def kept(store: Store) -> dict[str, bytes]:
    """What the bucket has."""
    found = store.client.list_objects_v2(Bucket="minutehand").get("Contents", [])
    keys = [each["Key"] for each in found]
    return {key: store.client.get_object(Bucket="minutehand", Key=key)["Body"].read() for key in keys}


def wrote(out: str, text: str) -> None:
    with folder_at(out, "mark.json") as folder:
        assert folder is not None
        (folder / "tables").mkdir(parents=True)
        (folder / "tables" / "a.txt").write_text(text)
        (folder / "mark.json").write_text(text)


def test_a_folder_goes_to_an_address_and_a_later_one_takes_its_place(store: Store) -> None:
    wrote(OUT, "first")
    wrote(OUT + "/", "second")

    assert kept(store) == {"of/march/mark.json": b"second", "of/march/tables/a.txt": b"second"}


def test_an_address_that_has_anything_else_is_left_alone(store: Store) -> None:
    store.client.put_object(Bucket="minutehand", Key="of/march/thesis.txt", Body=b"mine")

    with pytest.raises(InputError, match=r"has files, and no mark\.json from before: say another --out"):
        wrote(OUT, "first")
    assert kept(store) == {"of/march/thesis.txt": b"mine"}


def fails_after_writing() -> None:
    with folder_at(OUT, "mark.json") as folder, file_at(f"{OUT}.ndjson") as file:
        assert folder is not None
        folder.mkdir()
        file.write_text("{}")
        raise ZeroDivisionError


def test_of_what_failed_no_folder_is_uploaded_but_its_rejected_rows_are(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        fails_after_writing()

    assert kept(store) == {"of/march.ndjson": b"{}"}


def test_a_file_that_nobody_wrote_is_not_there(store: Store) -> None:
    with file_at(f"{OUT}.ndjson"):
        pass

    assert kept(store) == {}


def test_a_bucket_that_is_not_there_is_said_before_anything_is_done(store: Store) -> None:
    with pytest.raises(LakeError, match="s3://none/report"), folder_at("s3://none/report", "mark.json"):
        raise AssertionError("it began")


def test_here_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match="is a folder: --rejects is a file"), file_at(str(tmp_path)):
        pass
    with (
        pytest.raises(InputError, match="is a file: --out is a folder"),
        folder_at(str(tmp_path / "file"), "m"),
    ):
        pass


@pytest.mark.usefixtures("spark")
def test_a_simulation_is_written_to_an_address(store: Store) -> None:
    ended = CliRunner().invoke(
        simulate, ["--synthetic", "rate=1", "--out", OUT, "-o", "json"], catch_exceptions=False
    )

    assert ended.exit_code == 0
    there = kept(store)
    assert set(there) == {
        f"of/march/{name}" for name in ("simulation.json", "policies.parquet", "queues.parquet")
    }
    assert json.loads(there["of/march/simulation.json"])["jobs"] > 0


def test_a_page_at_an_address_is_not_opened() -> None:
    ended = CliRunner().invoke(report, ["lake", "--out", OUT, "--open"])

    assert ended.exit_code == 2
    assert "--open is for a report on this machine" in ended.output
