"""Projects, the reading of their files, and the identity of a storage folder."""
