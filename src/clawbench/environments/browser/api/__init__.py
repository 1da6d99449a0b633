"""The recorder HTTP API: whoever has the session's token can add to a record, and end it, from outside."""

from clawbench.environments.browser.api.app import build_app, build_extension_app
from clawbench.environments.browser.api.person import PersonRecording
from clawbench.environments.browser.api.server import PORT, ServedApi, serve_api

__all__ = ["PORT", "PersonRecording", "ServedApi", "build_app", "build_extension_app", "serve_api"]
