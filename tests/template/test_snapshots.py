"""With SnapStart, a published version is live, and a new release replaces it."""

import pytest

from tests.template.cases import CASES
from tests.template.stack import Stack

SNAPPED = {"WorkerFunction": "WorkerVersion", "ApiFunction": "ApiVersion"}


@pytest.mark.planted("Snaps, PublishedVersions, None", "OnX86, PublishedVersions, None")
@pytest.mark.planted(
    "    Condition: Snaps\n    Properties: {FunctionName: !Ref ApiFunction, FunctionVersion",
    "    Properties: {FunctionName: !Ref ApiFunction, FunctionVersion",
)
@pytest.mark.planted("SnapStart: \\*snapStart", "SnapStart: {ApplyOn: None}")
def test_snapstart_is_off_by_default(stack: Stack) -> None:
    off, on = stack.deployed(**CASES["existing"]), stack.deployed(**CASES["snapshots"])
    applied = {name: f["SnapStart"]["ApplyOn"] for name, f in on.functions.items() if "SnapStart" in f}

    assert applied == dict.fromkeys(SNAPPED, "PublishedVersions")
    assert {f["SnapStart"]["ApplyOn"] for f in off.functions.values() if "SnapStart" in f} == {"None"}
    for kind in ("Version", "Alias"):
        assert off.of_type(f"AWS::Lambda::{kind}") == {}
        assert len(on.of_type(f"AWS::Lambda::{kind}")) == 2


@pytest.mark.planted(
    "Properties: {FunctionName: !Ref WorkerFunction, Description: !Ref Release}",
    "Properties: {FunctionName: !Ref WorkerFunction}",
)
@pytest.mark.planted("; release \\${Release}", "")
@pytest.mark.planted(
    "FunctionVersion: !GetAtt ApiVersion.Version", "FunctionVersion: !GetAtt WorkerVersion.Version"
)
def test_new_release_is_a_new_version_and_goes_live(stack: Stack) -> None:
    deployed = stack.deployed(**CASES["snapshots"])
    aliases = {
        alias["FunctionName"]["Ref"]: alias["FunctionVersion"]["Fn::GetAtt"][0]
        for alias in deployed.of_type("AWS::Lambda::Alias").values()
    }

    assert aliases == SNAPPED
    for function, version in SNAPPED.items():
        # CloudFormation replaces a version whose description changes; Lambda publishes none of an unchanged function.
        assert deployed.of_type("AWS::Lambda::Version")[version] == {
            "FunctionName": {"Ref": function},
            "Description": "7",
        }
        assert deployed.functions[function]["Description"].endswith("release 7")


@pytest.mark.planted("!Ref WorkerLive, ", '!Sub "${AWS::StackName}-worker:live", ')
@pytest.mark.planted("!Ref WorkerLive, ", "!Ref ApiLive, ")
@pytest.mark.planted("Name: live}", "Name: newest}")
def test_dispatcher_invokes_the_live_alias(stack: Stack) -> None:
    deployed = stack.deployed(**CASES["snapshots"])
    alias = deployed.of_type("AWS::Lambda::Alias")["WorkerLive"]

    # A reference, unlike a name, has CloudFormation make the alias first.
    assert deployed.variables("DispatcherFunction")["MINUTEHAND_WORKER"] == {"Ref": "WorkerLive"}
    assert (alias["FunctionName"], alias["Name"]) == ({"Ref": "WorkerFunction"}, "live")
