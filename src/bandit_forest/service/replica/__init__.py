"""Replicas: any number of processes that decide and learn on one PostgreSQL."""
