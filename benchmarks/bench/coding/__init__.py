"""Parts of the benchmark `coding`."""
