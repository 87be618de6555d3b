"""Results go to a local folder or to an object store."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from minutehand_pipeline.cli.outputs import output_file, output_folder
from minutehand_pipeline.cli.report import report
from minutehand_pipeline.cli.simulate import simulate
from minutehand_pipeline.errors import InputError, LakeError
from tests.pipeline.object_store import Store

OUT = "s3://minutehand/of/march"


def stored(store: Store) -> dict[str, bytes]:
    """The content of the bucket."""
    found = store.client.list_objects_v2(Bucket="minutehand").get("Contents", [])
    keys = [each["Key"] for each in found]
    return {key: store.client.get_object(Bucket="minutehand", Key=key)["Body"].read() for key in keys}


def wrote(out: str, text: str) -> None:
    with output_folder(out, "mark.json", {"mark.json", "tables"}) as folder:
        assert folder is not None
        (folder / "tables").mkdir(parents=True)
        (folder / "tables" / "a.txt").write_text(text)
        (folder / "mark.json").write_text(text)


def test_folder_is_uploaded_and_replaced(store: Store) -> None:
    wrote(OUT, "first")
    wrote(OUT + "/", "second")

    assert stored(store) == {"of/march/mark.json": b"second", "of/march/tables/a.txt": b"second"}


def test_address_with_other_files_is_rejected(store: Store) -> None:
    store.client.put_object(Bucket="minutehand", Key="of/march/thesis.txt", Body=b"mine")

    with pytest.raises(
        InputError, match=r"has files but no mark\.json of an earlier run: pass another --out"
    ):
        wrote(OUT, "first")
    assert stored(store) == {"of/march/thesis.txt": b"mine"}


def test_interrupted_upload_can_be_repeated(store: Store) -> None:
    store.client.put_object(Bucket="minutehand", Key="of/march/tables/a.txt", Body=b"half")

    wrote(OUT, "again")

    assert stored(store) == {"of/march/mark.json": b"again", "of/march/tables/a.txt": b"again"}


def fails_after_writing() -> None:
    with output_folder(OUT, "mark.json") as folder, output_file(f"{OUT}.ndjson") as (file, _):
        assert folder is not None
        folder.mkdir()
        file.write_text("{}")
        raise ZeroDivisionError


def test_failed_run_uploads_only_rejected_rows(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        fails_after_writing()

    assert stored(store) == {"of/march.ndjson": b"{}"}


def test_unwritten_file_is_not_uploaded(store: Store) -> None:
    with output_file(f"{OUT}.ndjson"):
        pass

    assert stored(store) == {}


def test_missing_bucket_is_rejected_before_the_run(store: Store) -> None:
    with pytest.raises(LakeError, match="s3://none/report"), output_folder("s3://none/report", "mark.json"):
        raise AssertionError("the block must not run")


def test_local_outputs_must_have_the_right_type(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match="--rejects must be a file"), output_file(str(tmp_path)):
        pass
    with (
        pytest.raises(InputError, match="--out must be a folder"),
        output_folder(str(tmp_path / "file"), "m"),
    ):
        pass


@pytest.mark.usefixtures("spark")
def test_simulation_is_written_to_an_address(store: Store) -> None:
    ended = CliRunner().invoke(
        simulate, ["--synthetic", "rate=0.2", "--out", OUT, "-o", "json"], catch_exceptions=False
    )

    assert ended.exit_code == 0
    there = stored(store)
    assert set(there) == {
        f"of/march/{name}" for name in ("simulation.json", "policies.parquet", "queues.parquet")
    }
    assert json.loads(there["of/march/simulation.json"])["jobs"] > 0


def test_open_requires_a_local_folder() -> None:
    ended = CliRunner().invoke(report, ["lake", "--out", OUT, "--open"])

    assert ended.exit_code == 2
    assert "--open requires a local folder" in ended.output
