"""A browser that already runs elsewhere: reached over the network, recorded and intercepted all the same."""

from clawbench.environments.browser.remote.endpoint import FLAG, VARIABLE, Endpoint, parse_endpoint

__all__ = ["FLAG", "VARIABLE", "Endpoint", "parse_endpoint"]
