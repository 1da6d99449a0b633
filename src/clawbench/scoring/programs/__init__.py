"""Programs that run inside the sandbox, each started as a file; nothing here may import from the project."""
