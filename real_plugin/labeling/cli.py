"""The `real-plugin` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

# Threads that wait should sleep: on a busy machine spinning ones slow everything down tenfold.
# It has to be said before any library starts its threads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from real_plugin._errors import UsageError
from real_plugin._version import __version__

USAGE, INTERRUPTED = 2, 130
DESCRIPTION = """\
Picks the next texts to label from a file, and says why.

Once:
  real-plugin suggest pool.csv -n 100 -o batch.csv      a first batch, without any labels
  ... fill in the column "label" of batch.csv ...
  real-plugin merge batch.csv labels.csv                collect the labels
  real-plugin suggest pool.csv --labels labels.csv -n 100 -o batch.csv     the next batch

As a project, a folder that remembers everything:
  real-plugin init news --pool pool.csv && cd news
  real-plugin suggest -n 100 -o tasks.json --format label-studio
  ... label them in Label Studio, export as JSON ...
  real-plugin merge export.json
  real-plugin stop                                      should I go on?
"""
EPILOG = """\
exit codes:
  0    done; of `stop`: the predictions have settled, you can stop
  2    a wrong option or a file that can't be used; the message says which line and column
  3    conflicting labels; they are listed and nothing was written
  4    another real-plugin is working on the project
  5    of `stop`: go on labelling
  130  interrupted; the same command goes on from there

What a command says goes to stderr; data goes to the file of -o, or to stdout with -o -.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and run one command."""
    try:
        return _run(argv)
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return INTERRUPTED
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return int(getattr(error, "exit_code", USAGE))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return USAGE
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE


def _run(argv: Sequence[str] | None) -> int:
    from real_plugin.labeling.commands import COMMANDS

    parser = argparse.ArgumentParser(
        prog="real-plugin",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"real-plugin {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(commands)
    arguments = parser.parse_args(argv)
    code: int = arguments.run(arguments)
    return code
