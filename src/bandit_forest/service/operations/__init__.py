"""Decide, reward, learn, change actions, return the status: from a request to a result."""
