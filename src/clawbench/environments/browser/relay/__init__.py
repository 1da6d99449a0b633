"""What the agent gets of the browser: CDP with a guard in front of it."""

from clawbench.environments.browser.relay.policy import RelayRules
from clawbench.environments.browser.relay.server import Relay

__all__ = ["Relay", "RelayRules"]
