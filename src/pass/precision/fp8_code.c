/* SPDX-License-Identifier: MIT */
/* fp8_code.c — encoding of numbers as 8-bit floats with a scale, and the layers that use it. */
#include <math.h>

#include "pass/precision/fp8.h"
#include "pass/engine/rewrite.h"

int32_t prt_fp8_format_of(prt_str name)
{
    if (prt_str_is(name, "F143"))
        return PRT_DTYPE_f8e4m3fnuz;
    return prt_str_is(name, "F152") ? PRT_DTYPE_f8e5m2fnuz : PRT_DTYPE_undefined;
}

const char *prt_fp8_name(int32_t format)
{
    return format == PRT_DTYPE_f8e4m3fnuz ? "F143" : "F152";
}

uint8_t prt_fp8_encode(prt_fp8_code code, double value)
{
    uint8_t byte = 0;
    prt_store_f64_as(code.format, &byte, 0, ldexp(value, -code.scale), true);
    return byte;
}

double prt_fp8_decode(prt_fp8_code code, uint8_t byte)
{
    return ldexp(prt_load_f64(code.format, &byte, 0), code.scale);
}

static double power(int32_t exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Rounds by adding and subtracting a much larger number, which rounds to nearest even at the last
 * bit of the format. */
void prt_fp8_round(prt_fp8_code code, size_t count, const double *values, double *to)
{
    const bool f143 = code.format == PRT_DTYPE_f8e4m3fnuz;
    const int32_t digits = f143 ? 3 : 2, least = f143 ? -7 : -15;
    const double most = f143 ? 240 : 57344, down = power(-code.scale), up = power(code.scale);
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(values[i]) * down;
        uint64_t bits;
        memcpy(&bits, &size, sizeof(bits));
        const int32_t exponent = (int32_t)(bits >> 52) - 1023;
        const double large = power((exponent > least ? exponent : least) - digits + 52);
        const double rounded = size < most ? size + large - large : most;
        to[i] = copysign((rounded < most ? rounded : most) * up, values[i]);
    }
}

static bool is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) &&
        (v->type->dtype == PRT_DTYPE_f32 || v->type->dtype == PRT_DTYPE_f16);
}

bool prt_fp8_is_layer(const prt_op *op)
{
    if (!prt_op_is(op, PRT_OP_conv) && !prt_op_is(op, PRT_OP_matmul) && !prt_op_is(op, PRT_OP_gemm))
        return false;
    return is_float(prt_op_input(op, 0)) && is_float(prt_op_input(op, 1));
}

bool prt_fp8_weight(const prt_op *op, prt_tensor *out)
{
    return prt_match_constant(op, 1, out);
}
