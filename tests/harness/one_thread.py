"""One thread for matrix products, in processes that run tests and those that they start.

Where two processes share two cores, small products by two threads take a hundred times as long, in
waiting. BLAS reads this when NumPy is loaded, so this module is imported before it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
