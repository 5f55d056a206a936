# SPDX-License-Identifier: MIT
"""A short form of running passes by name."""

from .passes.pass_manager import PassManager


class Optimizer:
    """Runs a list of passes: names, or passes of your own."""

    def __init__(self, passes=()):
        self._manager = PassManager([passes] if isinstance(passes, str) else passes)

    def run(self, model):
        """Returns the changed model as an onnx.ModelProto."""
        return self._manager.run(model)
