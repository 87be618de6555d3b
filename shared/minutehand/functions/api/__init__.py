"""The REST API: `routers` has the endpoints and `schemas` their requests and responses, one module per resource."""
