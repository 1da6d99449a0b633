"""One harness started through its adapter, and the same by hand."""
