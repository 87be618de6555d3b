"""`minutehand limit --install`: the limits that a module declares."""


def test_limits_of_a_module_are_installed(invoke, lines, tmp_path, monkeypatch):
    text = "from minutehand.operations.declared import Limit\nLIMITS = [Limit(limit=2, kind='report')]"
    (tmp_path / "limits_of_cli.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    install = ["limit", "--install", "limits_of_cli"]

    assert invoke(*install).stderr == "1 added, 0 changed, 0 unchanged, 0 removed\n"
    (outcome,) = lines(invoke(*install, "-o", "json"))
    assert outcome == {"added": [], "changed": [], "unchanged": ["kind report"], "removed": []}
    refused = invoke(*install, "3")
    assert (refused.exit_code, "must not have other options" in refused.stderr) == (2, True)
