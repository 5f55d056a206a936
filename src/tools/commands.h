/* SPDX-License-Identifier: MIT */
/* commands.h — the commands of `poprt`. Each takes its own argv and gives the exit code. */
#ifndef PRT_TOOLS_COMMANDS_H
#define PRT_TOOLS_COMMANDS_H

int prt_command_convert(int argc, char **argv); /* no sub-command: the reference's command line */
int prt_command_run(int argc, char **argv);
int prt_command_test(int argc, char **argv);
int prt_command_bench(int argc, char **argv);
int prt_command_inspect(int argc, char **argv);
int prt_command_options(int argc, char **argv);
int prt_command_auto_sharding(int argc, char **argv);

int prt_command_tf2onnx(int argc, char **argv);

/* `poprt_exec TOOL`, and the tools it knows. */
int prt_command_exec(int argc, char **argv);
int prt_command_run_popef(int argc, char **argv);

/* Words of the sub-commands by index; NULL past the end. */
const char *prt_command_at(unsigned index);

#endif
