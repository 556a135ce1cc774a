"""Every behavior of a protocol up to bounds."""
