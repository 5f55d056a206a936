/* SPDX-License-Identifier: MIT */
/*
 * calibrate.h — formats and scales for float_to_fp8, found by trying them on the weights and on
 * what samples make of the inputs of the layers (losses.h). What comes out are the texts that
 * float_to_fp8 takes as fp8_input_dict, fp8_weight_dict and skip_op_names, and a log.
 */
#ifndef PRT_PASS_PRECISION_CALIBRATE_H
#define PRT_PASS_PRECISION_CALIBRATE_H

#include "pass/precision/feed.h"
#include "pass/precision/losses.h"

typedef struct prt_calibrate {
    prt_loss loss;
    prt_fp8_code input,
        weight;        /* without calibration: what is found is never worse, see losses.h */
    bool weights_only; /* for convert_model fp8_weight; gptq needs it */
    uint32_t keep;     /* so many layers with the largest losses stay float16 */
    const char *skip;  /* names of layers that stay float16, commas between; NULL: none */
    prt_feed feed;
    const prt_pass *pass; /* is told the progress, and may be cancelled; NULL: neither */
} prt_calibrate;

typedef struct prt_calibration {
    prt_str inputs, weights; /* {"node": ["F143", -2], …} */
    prt_str skip;            /* what was asked for, and the layers kept */
    prt_str log;             /* the text of quantize.log */
} prt_calibration;

/* Whether a list with commas between has this item. */
bool prt_calibrate_lists(const char *list, prt_str item);

/*
 * Layers are the Conv, MatMul and Gemm of the main graph that float_to_fp8 takes; others have the
 * defaults. Nodes get unique names; with gptq, weights are rounded in the model as well. The
 * results live in `arena`.
 */
poprt_status prt_calibrate_run(prt_module *module, const prt_calibrate *how, prt_arena *arena,
    prt_calibration *out);

#endif
