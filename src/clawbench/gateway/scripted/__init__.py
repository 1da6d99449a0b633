"""A model that plays a policy from a file, so that a real harness can run without a real model."""

from clawbench.gateway.scripted.policy import Policy, load_policy
from clawbench.gateway.scripted.provider import ScriptedUpstream

__all__ = ["Policy", "ScriptedUpstream", "load_policy"]
