"""Environments below the tests of a task: made once by its recipe, kept, and mounted read-only."""

from clawbench.environments.repo.setup.environment import TestEnvironment, prepare_environment

__all__ = ["TestEnvironment", "prepare_environment"]
