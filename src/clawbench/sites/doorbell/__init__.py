"""One page with one button at doorbell.example: the smallest site that a web task can be about."""

from clawbench.sites.doorbell.app import HOSTS, build

__all__ = ["HOSTS", "build"]
