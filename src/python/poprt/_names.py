# SPDX-License-Identifier: MIT
"""Names in files that PopRT's programs look for."""

#: Key of the grouping of apply_host_concat_split in metadata and opaque blobs.
sHostConcatRunnerConfig = "HostConcatRunnerConfig"
