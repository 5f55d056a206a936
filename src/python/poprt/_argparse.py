# SPDX-License-Identifier: MIT
"""The help formatter of PopRT's tools."""

import argparse


class PopHelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, keeps line breaks of descriptions, and leaves room for long options."""

    def __init__(self, prog, indent_increment=2, max_help_position=32, width=None):
        super().__init__(prog, indent_increment, max_help_position, width)

    def _fill_text(self, text, width, indent):
        return "".join(indent + line for line in text.splitlines(keepends=True))

    def _get_help_string(self, action):
        if action.default in (None, False, argparse.SUPPRESS):
            return action.help
        return super()._get_help_string(action)
