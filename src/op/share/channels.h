/* SPDX-License-Identifier: MIT */
/*
 * channels.h — conversion of images with the channels in the last dim, for operators that need them
 * in the second.
 */
#ifndef PRT_OP_SHARE_CHANNELS_H
#define PRT_OP_SHARE_CHANNELS_H

#include "op/share/delegate.h"

/* Convert the dims [N, D…, C] to [N, C, D…], and back. A shape of unknown rank is not changed. */
void prt_channels_first(prt_shape *shape);
void prt_channels_last(prt_shape *shape);

/* Converts the elements of `from` to channels-first order, as a tensor in scratch. */
poprt_status prt_channels_to_first(prt_eval *c, const prt_tensor *from, prt_tensor *to);

/* Converts back, into a tensor that has its memory. */
poprt_status prt_channels_to_last(prt_eval *c, const prt_tensor *from, prt_tensor *to);

#endif
