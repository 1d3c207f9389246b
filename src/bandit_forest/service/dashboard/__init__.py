"""The page that shows how the service is doing."""
