"""Lantern & Leaf: a small tea merchant at teahouse.example."""

from clawbench.sites.teahouse.app import HOSTS, build

__all__ = ["HOSTS", "build"]
