/* SPDX-License-Identifier: MIT */
/* channels.h — images with their channels in the last dim, for operators that want them second. */
#ifndef PRT_OP_SHARE_CHANNELS_H
#define PRT_OP_SHARE_CHANNELS_H

#include "op/share/delegate.h"

/* [N, D…, C] with its dims as [N, C, D…], and back. Shapes of unknown rank stay. */
void prt_channels_first(prt_shape *shape);
void prt_channels_last(prt_shape *shape);

/* The elements of `from` in the other order, as a tensor in scratch. */
poprt_status prt_channels_to_first(prt_eval *c, const prt_tensor *from, prt_tensor *to);

/* The reverse, into a tensor that has its memory. */
poprt_status prt_channels_to_last(prt_eval *c, const prt_tensor *from, prt_tensor *to);

#endif
