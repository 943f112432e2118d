"""Hot loops, compiled by Numba: flat arrays in and out, no poker objects."""
