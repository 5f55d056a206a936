/* SPDX-License-Identifier: MIT */
/* blobs.h — the blobs of a PopEF file, for `poprt inspect --blobs` and `--verify`. */
#ifndef PRT_TOOLS_COMMANDS_BLOBS_H
#define PRT_TOOLS_COMMANDS_BLOBS_H

#include <stdbool.h>

#include "poprt/base.h"
#include "tools/common/tool.h"

/* Prints a line for each blob: offset, type, version, size, name. With `verify`, checks every
 * checksum first, also those of weights, which reads the whole file. */
poprt_status prt_blobs_print(prt_tool *tool, const char *path, bool verify);

/* Prints these lines for blobs that were read. */
struct prt_popef_index;
void prt_blobs_print_index(const struct prt_popef_index *index);

#endif
