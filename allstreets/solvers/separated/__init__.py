"""The separated pipeline: the betting before the flop on values of flops solved beforehand."""
