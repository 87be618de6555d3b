"""The names of time zones are those of IANA, whatever files the machine has."""

import re
from pathlib import Path

import pytest

import minutehand
from minutehand import InvalidJobError
from minutehand.model.zones import zone_names, zone_of

# Files of the system, abbreviations, other cases, and no names.
WRONG = ["localtime", "posixrules", "posix/Europe/Berlin", "right/UTC", "Europe/berlin", "CEST", "EST", ""]
WRONG += ["Europe", "../UTC", "/etc/localtime", "Europe/Berlin\0", "\udc80", "Mars/Olympus"]
TABLES = Path(minutehand.__file__).parent / "schema/migrations/0001_tables.sql"


@pytest.mark.parametrize("name", WRONG)
def test_name_outside_the_list_is_rejected(name: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        zone_of(name)

    assert refused.value.rule == "zone_is_known"


def test_sql_accepts_every_name_in_the_list() -> None:
    domain = re.search(r"zone_is_known check \(value ~ '([^']+)'", TABLES.read_text())

    assert domain
    assert not [name for name in zone_names() if not re.fullmatch(domain[1], name)]
    assert len(zone_names()) > 500


def test_every_zone_in_the_list_can_be_read() -> None:
    assert [str(zone_of(name)) for name in sorted(zone_names())] == sorted(zone_names())
