"""What all commands share: where output goes, jobs on a terminal, pictures of decisions."""
