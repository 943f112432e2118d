"""Hot loops, compiled by Numba: flat arrays in and out, no poker objects.

Every kernel has a slow, obvious twin in tests/reference.
"""
