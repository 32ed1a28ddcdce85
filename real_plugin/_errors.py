"""What a user can get wrong."""


class UsageError(ValueError):
    """A mistake that its message explains; a command prints it without a traceback."""
