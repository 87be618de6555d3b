"""`minutehand limit --install`: the limits that a module declares; and groups with unusual names."""

from contextlib import closing

import pytest

from minutehand import Database, enqueue


def test_limits_of_a_module_are_installed(invoke, lines, tmp_path, monkeypatch):
    text = "from minutehand.operations.declared import Limit\nLIMITS = [Limit(limit=2, kind='report')]"
    (tmp_path / "limits_of_cli.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    install = ["limit", "--install", "limits_of_cli"]

    assert invoke(*install).stderr == "1 added, 0 changed, 0 unchanged, 0 removed\n"
    (outcome,) = lines(invoke(*install, "-o", "json"))
    assert (outcome["added"], outcome["unchanged"]) == ([], ["kind report"])
    other = invoke(*install, "--source", "other")
    assert (other.exit_code, "the limit of kind report exists" in other.stderr) == (1, True)
    refused = invoke(*install, "3")
    assert (refused.exit_code, "must not be combined with JOBS or options" in refused.stderr) == (2, True)


@pytest.mark.parametrize("name", ["-x", "--queue", "a b"])
def test_name_that_begins_like_an_option_follows_two_hyphens(invoke, direct_database, name):
    with closing(Database(direct_database.url)) as jobs:
        enqueue("report", group=name, connection=jobs)

    assert invoke("limit", "2", "--group", name).exit_code == 0
    unblocked = invoke("unblock", "--queue", "default", "--", name)
    assert (unblocked.exit_code, unblocked.stderr[:31]) == (1, "No dead job blocked this group,")
