"""A table of the report: its columns, types and meanings, for the files, the page and the documentation."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as T

from minutehand_pipeline.arrow import arrow_schema

# The types of columns, by the words of the declarations below.
TYPES: dict[str, T.DataType] = {
    "count": T.LongType(),
    "number": T.DoubleType(),
    "text": T.StringType(),
    "day": T.DateType(),
    "time": T.TimestampType(),
    "flag": T.BooleanType(),
    "texts": T.ArrayType(T.StringType()),
}
JSON_TYPES: dict[T.DataType, dict[str, Any]] = {
    TYPES["count"]: {"type": ["integer", "null"]},
    TYPES["number"]: {"type": ["number", "null"]},
    TYPES["text"]: {"type": ["string", "null"]},
    TYPES["day"]: {"type": ["string", "null"], "format": "date"},
    TYPES["time"]: {"type": ["string", "null"], "format": "date-time"},
    TYPES["flag"]: {"type": ["boolean", "null"]},
    TYPES["texts"]: {"type": ["array", "null"], "items": {"type": "string"}},
}


@dataclass(frozen=True)
class Column:
    """A column: its name, type and meaning."""

    name: str
    type: T.DataType
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table: its name, which is also that of its files, its meaning and its columns."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def rows(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the frame's rows with exactly the table's columns and types."""
        schema = arrow_schema(self.spark_schema())
        return list(pa.Table.from_pandas(frame[schema.names], schema, preserve_index=False).to_pylist())

    def spark_schema(self) -> T.StructType:
        """Return the Spark schema."""
        return T.StructType([T.StructField(each.name, each.type) for each in self.columns])

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the table's JSON file."""
        properties = {
            each.name: {**JSON_TYPES[each.type], "description": each.meaning} for each in self.columns
        }
        row = {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        }
        return {"description": self.meaning, "type": "array", "items": row}


def declare(name: str, meaning: str, *columns: str) -> Table:
    """Build a table from declarations, one line per column: name, type and meaning."""
    lines = (line.split(maxsplit=2) for line in "\n".join(columns).splitlines() if line.strip())
    return Table(name, meaning, tuple(Column(column, TYPES[kind], text) for column, kind, text in lines))
