"""The `real-plugin` command, also as `python -m real_plugin`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command, or say which extra it needs."""
    try:
        from real_plugin.labeling.cli import main as run
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
