/* SPDX-License-Identifier: MIT */
/* encoder_stubs.c — replaces the parts of encoders that decoders refer to but never call
 * (merge.sh). */
#include "image/heap.h"

_Noreturn void prt_image_unused(void);

void prt_image_unused(void)
{
    prt_image_escape(prt_fail(POPRT_E_PARSE, NULL, "the decoder called an encoder"));
}
