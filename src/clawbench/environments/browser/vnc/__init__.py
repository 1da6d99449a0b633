"""Looking at a session's screen, and driving it by hand, through noVNC in one's own browser."""

from clawbench.environments.browser.vnc.server import LOOPBACK, PORT, LiveView, ViewSettings, serve_view
from clawbench.environments.browser.vnc.subject import Handout, Mode, Subject

__all__ = ["LOOPBACK", "PORT", "Handout", "LiveView", "Mode", "Subject", "ViewSettings", "serve_view"]
