"""Staff without a table of users: a request names its permission."""

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import User


class Permissions:
    """Grants the permission that the request has named."""

    def has_perm(self, user, name, job=None):
        return name == user.email

    def has_module_perms(self, user, label):
        return user.email.startswith(f"{label}.")


class LogIn(AuthenticationMiddleware):
    def process_request(self, request):
        permission = request.headers.get("permission", "minutehand.view_job")
        request.user = User(pk=1, username="ada", is_staff=True, email=permission)
