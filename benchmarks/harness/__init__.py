"""Streams, rivals and processes that several benchmarks share."""
