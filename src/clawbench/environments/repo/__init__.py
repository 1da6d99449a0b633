"""The repository environment: a workspace without a future, and the patch taken from it."""

from clawbench.environments.repo.beyond import commits_beyond
from clawbench.environments.repo.changes import Change, changes_between, with_changes
from clawbench.environments.repo.git import GitError, Repository, create_bare
from clawbench.environments.repo.history import build_history
from clawbench.environments.repo.message import patch_in_message
from clawbench.environments.repo.patch import Dropped, Patch, take_patch
from clawbench.environments.repo.proof import Proof, prove
from clawbench.environments.repo.source import open_source
from clawbench.environments.repo.workspace import (
    Workspace,
    apply_to_index,
    prepare_workspace,
    prepare_workspace_with_future,
    tree_with_tests,
)

__all__ = [
    "Change",
    "Dropped",
    "GitError",
    "Patch",
    "Proof",
    "Repository",
    "Workspace",
    "apply_to_index",
    "build_history",
    "changes_between",
    "commits_beyond",
    "create_bare",
    "open_source",
    "patch_in_message",
    "prepare_workspace",
    "prepare_workspace_with_future",
    "prove",
    "take_patch",
    "tree_with_tests",
    "with_changes",
]
