"""What pytest leaves alone."""

collect_ignore = ["golden/make.py"]  # it runs with the version that wrote the folders
