# SPDX-License-Identifier: MIT
"""The releases whose interfaces these packages have."""

POPRT = "1.5.0"
POPART = (3, 4, 0)
POPTORCH = "3.4.0"
