"""How the environment of a task's tests is made: a set-up recipe, kept with the task."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Setup(BaseModel):
    """A Python environment below the tests, made once from package indexes and kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    python: str = Field(pattern=r"^3\.\d+$")
    """Minor version; the nearest newer one is taken where it is not on the machine."""
    requirements: list[str] = []
    """What pip is asked for; those that cannot be installed are left out, and named in the notices."""
    pinned: bool = False
    """The requirements are complete and exact: nothing they depend on is looked up."""
    newest: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """Packages published after this day do not exist."""
    install: bool = False
    """Install the repository itself at its base commit, editable, with what it depends on."""
    extras: list[str] = []
    """Its extras of which the dependencies are installed as well, where it has them."""
    prepare: list[str] = []
    """Shell lines run in the checkout before that, without network."""
    env: dict[str, str] = {}
    """Variables of the test process."""
