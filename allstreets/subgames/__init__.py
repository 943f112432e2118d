"""A postflop game as a function: both players' reach goes in, counterfactual values come out."""
