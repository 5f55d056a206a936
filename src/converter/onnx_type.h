/* SPDX-License-Identifier: MIT */
/* onnx_type.h — decodes TypeProto and ValueInfoProto. */
#ifndef PRT_CONVERTER_ONNX_TYPE_H
#define PRT_CONVERTER_ONNX_TYPE_H

#include "converter/onnx_wire.h"
#include "ir/ir.h"

/* Decodes a type. Dims without a number or name are unknown, or symbols "<input>.<axis>" if `input`
 * is given. */
poprt_status prt_onnx_type(prt_module *m, prt_bytes bytes, uint32_t depth, const prt_str *input,
    const prt_type **out);

/* Decodes the type (unknown if the field is absent) and the doc string of a ValueInfoProto. */
poprt_status prt_onnx_value_info(prt_module *m, prt_bytes bytes, uint32_t depth, bool is_input,
    const prt_type **out, prt_str *doc);

#endif
