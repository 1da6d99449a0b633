"""What the agent gets of the browser: CDP with a guard in front of it."""

from clawbench.environments.browser.relay.policy import LEAVING, RelayRules
from clawbench.environments.browser.relay.server import Relay

__all__ = ["LEAVING", "Relay", "RelayRules"]
