"""From a file of texts to the next batch to label: what is behind the `real-plugin` command."""

from real_plugin.labeling import _extra  # noqa: F401 - first, so that what is missing is named
from real_plugin.labeling.model import FrozenModel, load_model

__all__ = ["FrozenModel", "load_model"]
