"""The gate: every request is decided before it leaves, and without the gate nothing leaves."""
