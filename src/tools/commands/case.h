/* SPDX-License-Identifier: MIT */
/*
 * case.h — one case of `poprt test`: DIR/model.onnx and DIR/test_data_set_K/{input,output}_I.pb.
 */
#ifndef PRT_TOOLS_COMMANDS_CASE_H
#define PRT_TOOLS_COMMANDS_CASE_H

#include "tools/common/compare.h"
#include "tools/common/tool.h"

typedef enum prt_verdict { PRT_CASE_PASSED, PRT_CASE_FAILED, PRT_CASE_SKIPPED } prt_verdict;

typedef struct prt_case_options {
    prt_tolerance tolerance;
    bool via_popef;             /* through a written and re-read file */
    const char *cpu;            /* the session's option of that name; NULL: its default */
    const char *disable_passes; /* NULL: none */
    const char *passes;         /* run on the model first; NULL: none */
    const prt_opts *opts;       /* the command line; plug-ins are the values of option `plugins` */
    uint32_t plugins;
    bool each_pass; /* every pass alone, with its defaults, then the conversion */
} prt_case_options;

/* Runs all data sets of a case. `why` gets the reason of a failure. */
prt_verdict prt_case_run(const char *dir, const prt_case_options *options, char *why, size_t size);

#endif
