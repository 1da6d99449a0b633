"""Bundled web sites: everything they show and do is in this package; they ask nothing of the internet."""

from clawbench.sites.serving import Site, serve_site, site_names

__all__ = ["Site", "serve_site", "site_names"]
