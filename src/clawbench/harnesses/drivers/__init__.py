"""Programs that run inside a harness's own environment, with its packages and none of ours."""
