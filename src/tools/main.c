/* SPDX-License-Identifier: MIT */
/* main.c — the program `poprt`. */
#define _DEFAULT_SOURCE
#include <signal.h>

#include "tools/dispatch.h"

int main(int argc, char **argv)
{
    /* A write beyond `ulimit -f` then fails with EFBIG, which is reported, instead of ending the
     * process. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return prt_dispatch(argc, argv, NULL);
}
