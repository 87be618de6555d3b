"""A Django site with the admin and the app. It needs no tables of Django."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
import django.db
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

APPS = [f"django.contrib.{name}" for name in ("admin", "auth", "contenttypes", "messages", "sessions")]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "tests.integrations.django_staff.LogIn",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]


def configure() -> None:
    """Set up Django, once in a process."""
    if settings.configured:
        return
    templates = {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": PROCESSORS},
    }
    settings.configure(
        USE_TZ=True,
        SECRET_KEY="of tests",
        LOGGING_CONFIG=None,
        ALLOWED_HOSTS=["testserver"],
        DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "unset"}},
        INSTALLED_APPS=[*APPS, "minutehand.integrations.django"],
        AUTHENTICATION_BACKENDS=["tests.integrations.django_staff.Permissions"],
        MIDDLEWARE=MIDDLEWARE,
        ROOT_URLCONF="tests.integrations.django_urls",
        SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
        STATIC_URL="static/",
        TEMPLATES=[templates],
    )
    django.setup()


@contextmanager
def connected(url: str) -> Iterator[Any]:
    """Point Django's connection to a database."""
    configure()
    connection = django.db.connection
    parts = conninfo_to_dict(url)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    connection.settings_dict |= {setting: str(parts.get(name) or "") for setting, name in names.items()}
    try:
        yield connection
    finally:
        connection.close()
