"""The engines on NVIDIA GPUs: the layout and the stored numbers of processors, other kernels.

Kernels are CUDA C++ and lie beside the Python that launches them:

    programs, common.cuh            sources, structures, arrays on a device
    residence                       where learned numbers live: on the GPU or on the host
    streets                         passes of a street: what exact subgames and boards share
    exact                           exact subgames
    boards, boards_passes           real boards: the engine, and the launches of a set of ranges
    boards_layout, boards_rivers    their cards, and the lines of their rivers (rivers, products)
    bucketing, k_means              the buckets of their hands
    matrix, matrix_passes           hand classes, bucket chains: the engine, what passes share
    matrix_classes, matrix_chain    the passes of either
"""
