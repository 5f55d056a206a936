/* SPDX-License-Identifier: MIT */
/* log.h — the log lines of the tool: where they go, and which ones, as environment variables say.
 */
#ifndef PRT_TOOLS_COMMON_LOG_H
#define PRT_TOOLS_COMMON_LOG_H

#include "tools/common/tool.h"

/*
 * Reads the environment variables of the tool (docs/guide/tool.md lists them) and applies them: the
 * levels and the destination of log lines, and the folder of stored executables. An error names the
 * variable.
 */
poprt_status prt_tool_read_variables(prt_tool *tool);

/* Sets the level of the tool and of all modules of the library: an option of the command line,
 * which is stronger than the variables. */
void prt_tool_set_log_level(prt_tool *tool, int32_t level);

/* Closes the destination of lines; later ones go to standard error. */
void prt_tool_close_log(void);

/* Prints a line of the library; a poprt_log_line_fn whose `user` is the tool. */
void prt_tool_log_line(void *user, int32_t level, const char *module, const char *text);

#endif
