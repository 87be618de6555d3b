"""Which rows of a data file are meant, and have anything."""

from collections.abc import Collection, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc


def all_of(rows: pa.Table, where: Mapping[str, str]) -> pa.ChunkedArray:
    """Say of each row whether every column named has its value."""
    return reduce(pc.and_, (pc.equal(rows[name], value) for name, value in where.items()))


def any_of(rows: pa.Table, where: Mapping[str, Collection[str]]) -> pa.ChunkedArray:
    """Say of each row whether a column named has one of its values."""
    return reduce(
        pc.or_,
        (pc.is_in(rows[name], pa.array(list(values), pa.string())) for name, values in where.items()),
    )


def filled(rows: pa.Table, columns: list[str]) -> pa.ChunkedArray:
    """Say of each row whether any of the columns has a value."""
    return reduce(pc.or_, (pc.is_valid(rows[name]) for name in columns))
