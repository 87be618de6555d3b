"""A read is split into shares of pages, one for each task."""

from minutehand_pipeline.queue.ranges import split_pages


def test_shares_are_equal_and_cover_every_page_once() -> None:
    found = [
        ("jobs_done_20260101", 1),
        ("jobs_done_20260102", 1000),
        ("jobs_done_20260103", 7),
        ("jobs_done_default", 3),
    ]
    shares = split_pages(found, 4)
    pages = [each for one in shares for each in one]

    assert [sum((p.last or dict(found)[p.relation]) - p.first for p in one) for one in shares] == [
        253,
        253,
        253,
        252,
    ]
    for name, size in found:
        of_it = [p for p in pages if p.relation == name]
        assert [p.first for p in of_it] == [0, *(p.last for p in of_it[:-1])]
        assert of_it[-1].last is None and of_it[-1].first < size


def test_small_partitions_share_a_task() -> None:
    assert len(split_pages([(f"jobs_done_202601{day:02}", 3) for day in range(1, 31)], None)) == 1
    assert split_pages([], None) == []
