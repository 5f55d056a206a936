/* SPDX-License-Identifier: MIT */
/*
 * popef_weights.h — the weights of a program (prt_weight) in descriptors of PopEF blobs. A reader
 * that does not know these members ignores them.
 *
 *     of a tensor          "weights":[{"name":"w","dtype":"float32","shape":[2,3],
 *                              "steps":[["transpose",[2,3],[1,0]],...]},...]
 *     of an executable     "folded":[["w","fuse_bn_into_conv"],...]
 */
#ifndef PRT_PROGRAM_POPEF_WEIGHTS_H
#define PRT_PROGRAM_POPEF_WEIGHTS_H

#include "program/popef.h"

/* Add the members, unless there is no such weight. */
void prt_popef_put_weights(prt_json_out *j, const prt_program *program, uint32_t constant);
void prt_popef_put_folded(prt_json_out *j, const prt_program *program);

/* Reads the weights of a program whose constants are attached; `tensors` has the descriptor of each
 * constant. Fails with POPRT_E_PARSE for steps that do not fit the constant. */
poprt_status prt_popef_get_weights(prt_program *program, const prt_json *executable,
    const prt_json *const *tensors);

#endif
