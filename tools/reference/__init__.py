"""The reference pages that come from the code: command line, project file, HTTP API and metrics."""
