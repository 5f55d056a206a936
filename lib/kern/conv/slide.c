/* SPDX-License-Identifier: MIT */
/* slide.c — the depthwise convolutions that slide.h supports. */
#include "kern/conv/slide.h"

bool prt_slide_fits(const prt_slide *s)
{
    const size_t half = s->columns / 2;
    const bool taps = s->columns == 3 || s->columns == 5 || s->columns == 7;
    const bool stride = s->stride_w == 1 || (s->stride_w == 2 && s->columns < 7);
    return taps && stride && s->n != 0 && s->left <= half && s->channels >= PRT_SLIDE_CHANNELS &&
        (s->n - 1) * s->stride_w + s->columns <= s->in_w + s->left + half;
}
