"""What pytest leaves alone."""

collect_ignore = ["golden"]  # its scripts run with the version that wrote the folders
