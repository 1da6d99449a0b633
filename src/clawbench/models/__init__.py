"""Models: where a model's API is, how to ask it, what it costs. Keys stay in memory."""

from clawbench.models.load import absent_model, load_model, load_models, scripted_model
from clawbench.models.model import SCRIPTED, ApiType, Model, ThinkingLevel

__all__ = [
    "SCRIPTED",
    "ApiType",
    "Model",
    "ThinkingLevel",
    "absent_model",
    "load_model",
    "load_models",
    "scripted_model",
]
