"""What the benchmarks share, and their parts: not a benchmark itself."""
