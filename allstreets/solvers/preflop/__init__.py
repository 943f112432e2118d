"""The betting before the flop, and the separated pipeline on top of solved flops."""
