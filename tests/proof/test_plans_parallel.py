"""No statement that reads few pages starts parallel processes, whose start takes milliseconds."""

import pytest
from backlog import Stock
from explain import parallel_in_large
from pages import PAGES

from minutehand.database import Connection

pytestmark = pytest.mark.plans


@pytest.mark.parametrize("name", sorted(PAGES))
def test_statement_starts_no_parallel_processes(full: tuple[Connection, Stock], name: str) -> None:
    connection, stock = full

    assert not parallel_in_large(connection, name, stock.parameters(name))
