"""Start from snapshot and journal, verify, back up, export."""
