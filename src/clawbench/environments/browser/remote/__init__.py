"""A browser that already runs elsewhere: reached over the network, recorded and intercepted all the same."""

from clawbench.environments.browser.remote.endpoint import FLAG, VARIABLE, Endpoint, parse_endpoint
from clawbench.environments.browser.remote.reaching import check_endpoint

__all__ = ["FLAG", "VARIABLE", "Endpoint", "check_endpoint", "parse_endpoint"]
