"""Reports as one page to look at, which needs nothing but a browser."""
