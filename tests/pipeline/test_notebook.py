"""The notebook of the documentation runs, and its stored outputs are those that it prints.

MINUTEHAND_UPDATE=1 stores the new outputs.
"""

import json
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.lake import Lake
from tests.docs.reading import ROOT
from tests.pipeline.report.recording import record

NOTEBOOK = ROOT / "docs" / "pipeline" / "notebook.ipynb"
JOBS, DAYS = 5_000, 7
# Read now: the variables of this project are removed for tests.
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lake"
    record(spark, Lake(str(folder)), JOBS, DAYS)
    monkeypatch.setenv("LAKE", str(folder))
    return folder


def run(cells: list[dict[str, Any]]) -> list[str]:
    """Run code cells one after the other; return what each printed."""
    names: dict[str, Any] = {}
    printed = []
    for cell in cells:
        with redirect_stdout(StringIO()) as output:
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}:{cell['id']}", "exec"), names)
        printed.append(output.getvalue())
    return printed


def test_notebook_prints_its_stored_outputs(lake: Path, spark: SparkSession) -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]

    printed = run(cells)

    if UPDATE:
        for cell, text in zip(cells, printed, strict=True):
            lines = text.splitlines(keepends=True)
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    stored = ["".join(line for output in cell["outputs"] for line in output["text"]) for cell in cells]
    assert printed == stored
