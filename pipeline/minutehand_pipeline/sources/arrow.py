"""A schema of Spark's as one of Arrow's: the types that the queue's rows have, and no other."""

import pyarrow as pa
from pyspark.sql import types as T

_TYPES: dict[type[T.DataType], pa.DataType] = {
    T.StringType: pa.string(),
    T.IntegerType: pa.int32(),
    T.LongType: pa.int64(),
    T.DoubleType: pa.float64(),
    T.BooleanType: pa.bool_(),
    T.DateType: pa.date32(),
    T.TimestampType: pa.timestamp("us", "UTC"),
}


def arrow_schema(schema: T.StructType) -> pa.Schema:
    """Return Arrow's schema; a KeyError is a type that no table of ours has."""
    return pa.schema([pa.field(field.name, _TYPES[type(field.dataType)]) for field in schema])
