"""More than one machine: parts of a forest that learn separately, and launchers of tasks on processes or on Ray."""
