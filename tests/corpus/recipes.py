# SPDX-License-Identifier: MIT
"""recipes.py: all modules of recipes; a new one is imported here."""
import attend  # noqa: F401
import contrib  # noqa: F401
import control  # noqa: F401
import image  # noqa: F401
import learnt  # noqa: F401
import microsoft  # noqa: F401
import microsoft_more  # noqa: F401
import microsoft_quant  # noqa: F401
import move  # noqa: F401
import nn  # noqa: F401
import norm  # noqa: F401
import pointwise  # noqa: F401
import popart  # noqa: F401
import popart_more  # noqa: F401
import quant  # noqa: F401
import recurrent  # noqa: F401
import reduce  # noqa: F401
import sequence  # noqa: F401
import signals  # noqa: F401
import words  # noqa: F401
