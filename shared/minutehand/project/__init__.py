"""Projects: create a team's own project, and follow new versions of minutehand in it.

A project's template.yaml deploys the stack of the installed version as a nested application. `.minutehand/stack` links
to that stack, and `minutehand.lock` records what it contained when the team last accepted it.
"""
