"""Deliver a job to a URL, as JSON and signed. `minutehand.web.delivery` lists the settings."""

from minutehand.web.delivery.deliver import Delivery, handle

__all__ = ["Delivery", "handle"]
