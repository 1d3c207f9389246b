"""Policies to compare with, one a file."""
