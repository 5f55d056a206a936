/* SPDX-License-Identifier: MIT */
/* commands.h — the commands of `poprt` and `poprt_exec`. */
#ifndef PRT_TOOLS_COMMANDS_H
#define PRT_TOOLS_COMMANDS_H

#include "tools/common/opt.h"

/* The main command line, without a sub-command, and the sub-commands. */
extern const prt_opt_command prt_convert_command;
extern const prt_opt_command prt_run_command;
extern const prt_opt_command prt_test_command;
extern const prt_opt_command prt_train_command;
extern const prt_opt_command prt_bench_command;
extern const prt_opt_command prt_inspect_command;
extern const prt_opt_command prt_report_command;
extern const prt_opt_command prt_popef_command;
extern const prt_opt_command prt_options_command;
extern const prt_opt_command prt_auto_sharding_command;
extern const prt_opt_command prt_tf2onnx_command;

/* `poprt_exec TOOL`, and the tool that it alone has. */
extern const prt_opt_command prt_exec_command;
extern const prt_opt_command prt_run_popef_command;

/* The sub-commands of the main command line, ended by NULL. */
extern const prt_opt_command *const prt_commands[];

/* Prints a script that completes the command line of `command` and its sub-commands. `shell` is
 * bash or zsh. */
void prt_completion_print(const prt_opt_command *command, const char *shell);

#endif
