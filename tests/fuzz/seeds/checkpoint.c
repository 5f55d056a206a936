/* SPDX-License-Identifier: MIT */
/* checkpoint.c — writes a checkpoint of the program of checkpoint_program.h to a file. */
#include <stdio.h>

#include "fuzz/checkpoint_program.h"

static int32_t put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) != size;
}

int main(int argc, char **argv)
{
    prt_program *program = NULL;
    FILE *to = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (to == NULL)
        return 1;
    prt_session *session = fuzz_checkpoint_session(&prt_mem_libc, &program);
    const poprt_status status = prt_session_write_checkpoint(session, put, to);
    prt_session_release(session);
    prt_program_release(program);
    return fclose(to) != 0 || status != POPRT_OK;
}
