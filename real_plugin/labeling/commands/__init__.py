"""The commands of `real-plugin`, each with its options."""

from real_plugin.labeling.commands import explain, init, labels, merge, stop, suggest

COMMANDS = (suggest, init, merge, explain, stop, labels)
