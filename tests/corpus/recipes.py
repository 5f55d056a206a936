# SPDX-License-Identifier: MIT
"""recipes.py: all modules of recipes; a new one is imported here."""
import pointwise  # noqa: F401
