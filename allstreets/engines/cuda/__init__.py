"""Kernels for NVIDIA GPUs, in CUDA C++: flat arrays in and out, as those for processors.

The sources stand in files of their own (`.cu`, `.cuh`). `sources` puts them together, with the
structures that Python and C++ both know; who owns a device compiles and launches them.
"""
