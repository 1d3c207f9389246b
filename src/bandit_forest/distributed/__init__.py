"""More than one machine: parts of a forest that learn apart, and launchers that run tasks on processes or on Ray."""
