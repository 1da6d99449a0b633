"""The browser environment: a real Chromium whose every request is recorded and whose final one is held."""

from clawbench.environments.browser.client import BrowserSession
from clawbench.environments.browser.protocol import EgressRules, SessionCommand, SessionConfig, SessionEvent

__all__ = ["BrowserSession", "EgressRules", "SessionCommand", "SessionConfig", "SessionEvent"]
