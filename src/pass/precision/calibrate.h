/* SPDX-License-Identifier: MIT */
/*
 * calibrate.h — search for formats and scales of float_to_fp8: all candidates are tried on the
 * weights, and on the inputs of the layers for given samples (losses.h). The results are the texts
 * of the options fp8_input_dict, fp8_weight_dict and skip_op_names, and a log.
 */
#ifndef PRT_PASS_PRECISION_CALIBRATE_H
#define PRT_PASS_PRECISION_CALIBRATE_H

#include "pass/precision/feed.h"
#include "pass/precision/losses.h"

typedef struct prt_calibrate {
    prt_loss loss;
    prt_fp8_code input, weight; /* defaults: the result is never worse, see losses.h */
    bool weights_only;          /* for convert_model fp8_weight; required by gptq */
    uint32_t keep;    /* number of layers that stay float16, those with the largest losses */
    const char *skip; /* names of layers that stay float16, separated by commas; NULL: none */
    prt_feed feed;
    const prt_pass *pass; /* receives progress and may cancel; NULL: no progress */
} prt_calibrate;

typedef struct prt_calibration {
    prt_str inputs, weights; /* {"node": ["F143", -2], ...} */
    prt_str skip;            /* the requested names, and the layers that `keep` selected */
    prt_str log;             /* text of quantize.log */
} prt_calibration;

/* Returns whether the comma-separated list contains the item. */
bool prt_calibrate_lists(const char *list, prt_str item);

/*
 * Calibrates all Conv, MatMul and Gemm of the main graph that float_to_fp8 converts; other layers
 * use the defaults. Gives unique names to nodes. With gptq it also rounds the weights in the model.
 * The results are allocated in `arena`.
 */
poprt_status prt_calibrate_run(prt_module *module, const prt_calibrate *how, prt_arena *arena,
    prt_calibration *out);

#endif
