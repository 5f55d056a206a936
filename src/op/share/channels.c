/* SPDX-License-Identifier: MIT */
/* channels.c — moves the channel dim from the last to the second position and back. */
#include "op/share/channels.h"

void prt_channels_first(prt_shape *shape)
{
    if (shape->rank < 3)
        return;
    const int64_t channels = shape->dims[shape->rank - 1];
    memmove(shape->dims + 2, shape->dims + 1, (size_t)(shape->rank - 2) * sizeof(int64_t));
    shape->dims[1] = channels;
}

void prt_channels_last(prt_shape *shape)
{
    if (shape->rank < 3)
        return;
    const int64_t channels = shape->dims[1];
    memmove(shape->dims + 1, shape->dims + 2, (size_t)(shape->rank - 2) * sizeof(int64_t));
    shape->dims[shape->rank - 1] = channels;
}

static poprt_status transpose(prt_eval *c, const int64_t *perm, const prt_tensor *from,
    prt_tensor *to)
{
    const prt_transpose_attrs attrs = { .present = 1, .perm = { perm, from->rank } };
    return prt_delegate_eval(c, PRT_OP_transpose, &attrs, 1, &from, 1, &to);
}

poprt_status prt_channels_to_first(prt_eval *c, const prt_tensor *from, prt_tensor *to)
{
    int64_t perm[PRT_MAX_RANK] = { 0, from->rank - 1 };
    prt_shape shape;
    prt_shape_of_tensor(from, &shape);
    prt_channels_first(&shape);
    for (uint32_t i = 2; i < from->rank; i++)
        perm[i] = i - 1;
    PRT_TRY(prt_delegate_tensor(c, from->dtype, from->rank, shape.dims, to));
    return transpose(c, perm, from, to);
}

poprt_status prt_channels_to_last(prt_eval *c, const prt_tensor *from, prt_tensor *to)
{
    int64_t perm[PRT_MAX_RANK] = { 0 };
    for (uint32_t i = 1; i + 1 < from->rank; i++)
        perm[i] = i + 1;
    perm[from->rank - 1] = 1;
    return transpose(c, perm, from, to);
}
