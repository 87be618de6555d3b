"""Web: a queue bound to a route of your own application, and deliveries to it."""
