"""Programs that measure: `python -m benchmarks` (`make bench`) for the ratios of docs/performance.md."""
