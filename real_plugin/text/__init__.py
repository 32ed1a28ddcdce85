"""TransformerClassifier: a skorch-wrapped text encoder that modAL and scikit-activeml take."""

try:
    import skorch  # noqa: F401
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"real_plugin.text needs {error.name}: pip install 'real-plugin[text]'"
    ) from error

from real_plugin.text.classifier import TransformerClassifier

__all__ = ["TransformerClassifier"]
