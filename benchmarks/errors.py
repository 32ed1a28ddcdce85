"""What a user can get wrong."""


class UsageError(ValueError):
    """A mistake that its message explains; the command line prints it without a traceback."""
