# SPDX-License-Identifier: MIT
"""recipes.py: all modules of recipes; a new one is imported here."""
import image  # noqa: F401
import move  # noqa: F401
import nn  # noqa: F401
import norm  # noqa: F401
import pointwise  # noqa: F401
import quant  # noqa: F401
import recurrent  # noqa: F401
import reduce  # noqa: F401
