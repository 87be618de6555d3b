"""The template passes the validation of `sam`."""

from tests.sam_local.sam import Sam


def test_template_passes_sam_validation(sam: Sam) -> None:
    assert "is a valid SAM Template" in sam.run("validate")
