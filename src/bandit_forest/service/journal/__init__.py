"""Entries in their order, made durable in groups."""
