"""The app. It has no migrations: `manage.py minutehand migrate` owns the schema."""

from django.apps import AppConfig


class MinutehandConfig(AppConfig):
    """The app of `"minutehand.integrations.django"`."""

    name = "minutehand.integrations.django"
    label = "minutehand"
    verbose_name = "minutehand"
