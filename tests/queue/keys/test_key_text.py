"""A key is one text, the same in every interface."""

import pytest

from minutehand import NewJob, enqueue_many
from minutehand.model.key import key_text
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_server

KEYS: list[tuple[object, str]] = [
    ("a/b", "a/b"),
    (("a", "b"), "a/b"),
    (["a", "b"], "a/b"),
    (("a/b",), "a%2Fb"),
    (("a%2Fb",), "a%252Fb"),
    (("a", "b/c"), "a/b%2Fc"),
    (("a/b", "c"), "a%2Fb/c"),
    (1, "1"),
    ("1", "1"),
    (1.0, "1"),
    (1.5, "1.5"),
    (-0.5, "-0.5"),
    (("n", 1), "n/1"),
    (("N", 1), "N/1"),
    (2**80, str(2**80)),
    ("%2F", "%2F"),
    ("100%", "100%"),
    ("ü", "ü"),
]


@pytest.mark.parametrize(("key", "text"), KEYS, ids=repr)
def test_key_has_one_text(key: object, text: str) -> None:
    assert key_text(key) == text


def test_key_is_the_same_in_every_interface(direct_queue: Queue) -> None:
    direct_queue.enqueue(key=("order", "a/b", 17))
    (made,) = enqueue_many([NewJob("echo", key=["order", "a/b", "17"])], connection=direct_queue.database)
    (by_sql,) = direct_queue.sql(
        "select * from minutehand.enqueue('echo', key => minutehand.key_of('order', 'a/b', '17'))"
    )

    assert (made.outcome, by_sql["outcome"]) == ("replaced", "replaced")
    assert direct_queue.enqueue(key="order/a%2Fb/17") == by_sql["id"]
    assert direct_queue.enqueue(key=("order", "a", "b", 17)) != by_sql["id"]


def test_python_and_sql_join_key_parts_equally(direct_queue: Queue) -> None:
    for parts in (["a", "b"], ["a/b"], ["%", "/", "%2F"], ["ü", "1"], [" a", "b "]):
        (row,) = direct_queue.sql("select minutehand.key_of(variadic %(parts)s::text[]) as key", parts=parts)
        assert row["key"] == key_text(parts)
