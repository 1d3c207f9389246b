"""What pytest leaves alone."""

collect_ignore = ["golden/make.py", "golden/make_linked.py"]  # it runs with the version that wrote the folders
