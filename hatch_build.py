"""Add template.yaml to the wheel, next to the functions and layers that pyproject.toml adds.

Not by `force-include` in pyproject.toml, because that also copies the file into editable installations.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TemplateHook(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the template, except to editable installations."""
        if version != "editable":
            build_data["force_include"]["template.yaml"] = "minutehand/stack/template.yaml"
