/* SPDX-License-Identifier: MIT */
/* upgrade_microsoft_quant.c — maps quantised operators of com.microsoft to standard operators. */
#include "converter/conversions.h"

/* Without `axis` the scale is one number, for which the standard operator ignores its axis. */
poprt_status prt_up_ms_quantize(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_quantize_linear);
}

poprt_status prt_up_ms_dequantize(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_dequantize_linear);
}

/* With channels second it equals the standard operator, attribute by attribute. */
poprt_status prt_up_ms_qlinear_conv(prt_upgrade *u)
{
    const prt_ms_qlinear_conv_attrs *a = u->op->attrs;
    if (a->channels_last != 0)
        return POPRT_OK;
    for (uint32_t i = 0; i < u->n_attrs; i++)
        u->attrs[i].taken = prt_str_is(u->attrs[i].name, "channels_last");
    return prt_upgrade_become(u, PRT_OP_qlinear_conv);
}
