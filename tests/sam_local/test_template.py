"""The template as `sam` reads it."""

from tests.sam_local.sam import Sam


def test_sam_finds_no_fault_in_the_template(sam: Sam) -> None:
    assert "is a valid SAM Template" in sam.run("validate")
