/* SPDX-License-Identifier: MIT */
/* checkpoint.c — writes a checkpoint and the variables of the program of checkpoint_program.h. */
#include <stdio.h>

#include "fuzz/checkpoint_program.h"

static int32_t put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) != size;
}

int main(int argc, char **argv)
{
    prt_program *program = NULL;
    FILE *to = argc == 3 ? fopen(argv[1], "wb") : NULL;
    FILE *variables = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (to == NULL || variables == NULL)
        return 1;
    prt_session *session = fuzz_checkpoint_session(&prt_mem_libc, &program);
    const bool good = prt_session_write_checkpoint(session, put, to) == POPRT_OK &&
        prt_session_write_variables(session, put, variables) == POPRT_OK;
    prt_session_release(session);
    prt_program_release(program);
    const bool closed = fclose(to) == 0;
    return fclose(variables) != 0 || !closed || !good;
}
