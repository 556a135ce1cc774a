"""Machine code of functions that are written in the subset of Python that numba compiles, kept between processes."""
