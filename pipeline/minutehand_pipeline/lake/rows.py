"""Filters on the rows of a data file."""

from collections.abc import Collection, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc


def match_all(rows: pa.Table, where: Mapping[str, str]) -> pa.ChunkedArray:
    """Return, for each row, whether every named column has its value."""
    return reduce(pc.and_, (pc.equal(rows[name], value) for name, value in where.items()))


def match_any(rows: pa.Table, where: Mapping[str, Collection[str]]) -> pa.ChunkedArray:
    """Return, for each row, whether any named column has one of its values."""
    return reduce(
        pc.or_,
        (pc.is_in(rows[name], pa.array(list(values), pa.string())) for name, values in where.items()),
    )


def has_value(rows: pa.Table, columns: list[str]) -> pa.ChunkedArray:
    """Return, for each row, whether any of the columns is not null."""
    return reduce(pc.or_, (pc.is_valid(rows[name]) for name in columns))
