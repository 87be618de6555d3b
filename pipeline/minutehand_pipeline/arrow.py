"""Convert Spark schemas to Arrow schemas, for the types that the queue's rows use."""

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
    """Return the Arrow schema. Raises KeyError for a type that no table here uses."""
    return pa.schema([pa.field(field.name, _arrow_type(field.dataType)) for field in schema])


def _arrow_type(kind: T.DataType) -> pa.DataType:
    if isinstance(kind, T.ArrayType):
        return pa.list_(_arrow_type(kind.elementType))
    return _TYPES[type(kind)]
