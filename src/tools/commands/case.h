/* SPDX-License-Identifier: MIT */
/* case.h — a case of `poprt test`: DIR/model.onnx and DIR/test_data_set_K/{input,output}_I.pb. */
#ifndef PRT_TOOLS_COMMANDS_CASE_H
#define PRT_TOOLS_COMMANDS_CASE_H

#include "tools/common/compare.h"
#include "tools/common/tool.h"

typedef enum prt_verdict { PRT_CASE_PASSED, PRT_CASE_FAILED, PRT_CASE_SKIPPED } prt_verdict;

typedef struct prt_case_options {
    prt_tolerance tolerance;
    bool via_popef;             /* true: run the program from a PopEF file */
    const char *cpu;            /* option "cpu" of the session; NULL: its default */
    const char *disable_passes; /* passes of compiling to leave out, or NULL */
    /* Passes to run in a conversion before; NULL: no conversion. */
    const char *passes;
    const prt_opts *opts; /* command line; option `plugins` has the plug-ins */
    uint32_t plugins;
    /* true: run every pass alone, with its defaults, then the conversion. */
    bool each_pass;
} prt_case_options;

/* Runs all data sets of a case. `why` receives the reason of a failure. */
prt_verdict prt_case_run(const char *dir, const prt_case_options *options, char *why, size_t size);

#endif
