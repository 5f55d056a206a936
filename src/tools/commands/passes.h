/* SPDX-License-Identifier: MIT */
/* passes.h — `poprt inspect --passes`. */
#ifndef PRT_TOOLS_COMMANDS_PASSES_H
#define PRT_TOOLS_COMMANDS_PASSES_H

void prt_passes_print(void);

#endif
