"""HTTP: server, application, authentication, limits, metrics, OpenAPI."""
