"""What a project is, how its file is read, and the identity of a storage folder."""
