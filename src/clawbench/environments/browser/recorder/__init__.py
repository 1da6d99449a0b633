"""The recorder: every action, request and screenshot of a session, from where no page can see or forge it."""

from clawbench.environments.browser.recorder.actions import MASK, TEXT_LENGTH, VALUE_LENGTH
from clawbench.environments.browser.recorder.recorder import BINDING, WORLD, Recorder, names_in_use

__all__ = ["BINDING", "MASK", "TEXT_LENGTH", "VALUE_LENGTH", "WORLD", "Recorder", "names_in_use"]
