"""What is solved: rules before and after the flop, the flops, and what a game takes."""
