"""Decide, reward, learn, change actions, tell the status: a request in, a result out."""
