"""What a user can get wrong."""

from real_plugin._errors import UsageError

__all__ = ["UsageError"]
