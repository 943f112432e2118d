"""Common parts of all commands: output, jobs on a terminal, pictures of decisions."""
