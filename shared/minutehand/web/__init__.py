"""Jobs over HTTP: deliver them to any URL, and receive them in a route of your own application."""
