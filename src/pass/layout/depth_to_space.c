/* SPDX-License-Identifier: MIT */
/* depth_to_space.c — blocks of pixels as channels and back, where channels come last. */
#include "pass/layout/to_nhwc.h"

/* Reshape, Transpose, Reshape. */
static prt_value *moved(prt_build *b, prt_value *x, uint32_t rank, const int64_t *apart,
    const int64_t *turn, uint32_t last_rank, const int64_t *last)
{
    x = prt_match_transposed(b, prt_match_shaped(b, x, rank, apart), rank, turn);
    return prt_match_shaped(b, x, last_rank, last);
}

prt_value *prt_to_nhwc_side_by_side(prt_build *b, prt_value *x, uint32_t axes, const int64_t *block,
    const int64_t *size, int64_t channels)
{
    int64_t apart[2 * PRT_TURN_RANK] = { 0 }, turn[2 * PRT_TURN_RANK] = { 0 };
    int64_t image[PRT_TURN_RANK] = { 0 };
    bool moves = false; /* pixels of a block that are not beside each other already */
    for (uint32_t i = 0; i < axes; i++) {
        const bool last = i + 1 == axes;
        apart[1 + axes + i] = last ? block[i] * channels : block[i];
        turn[1 + 2 * i] = 1 + i;
        turn[2 + 2 * i] = 1 + axes + i;
        image[1 + i] = size[i];
        moves = moves || (!last && block[i] != 1);
    }
    image[1 + axes] = channels;
    return moves ? moved(b, x, 1 + 2 * axes, apart, turn, 2 + axes, image)
                 : prt_match_shaped(b, x, 2 + axes, image);
}

/* The input, channels last and of known dims but for the first, or NULL. */
static prt_value *source_of(const prt_op *root, int64_t *channels)
{
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    if (x == NULL || x->type->rank != 4 || !prt_to_nhwc_is_image(&root->out[0]))
        return NULL;
    for (uint32_t i = 1; i < 4; i++)
        if (!prt_dim_is_number(x->type->dims[i]) || x->type->dims[i] == 0)
            return NULL;
    *channels = x->type->dims[3];
    return x;
}

bool prt_to_nhwc_to_space(prt_build *b, prt_op *root)
{
    static const int64_t turn[6] = { 0, 1, 4, 2, 5, 3 };
    const prt_depth_to_space_attrs *a = root->attrs;
    int64_t channels;
    prt_value *x = source_of(root, &channels);
    const int64_t n = a->blocksize;
    if (x == NULL)
        return false;
    const int64_t rows = x->type->dims[1] * n, columns = x->type->dims[2] * n;
    channels /= n * n;
    const int64_t block[2] = { n, n }, apart[6] = { 0, 0, 0, channels, n, n };
    const int64_t dims[4] = { 0, rows, columns, channels };
    prt_to_nhwc_replace(b, root, 0,
        prt_str_is(a->mode, "DCR") ? prt_to_nhwc_side_by_side(b, x, 2, block, dims + 1, channels)
                                   : moved(b, x, 6, apart, turn, 4, dims));
    return true;
}

bool prt_to_nhwc_to_depth(prt_build *b, prt_op *root)
{
    static const int64_t turn[6] = { 0, 1, 3, 2, 4, 5 }, crd[6] = { 0, 1, 3, 5, 2, 4 };
    const prt_space_to_depth_attrs *a = root->attrs;
    int64_t channels;
    prt_value *x = source_of(root, &channels);
    const int64_t n = a->blocksize;
    if (x == NULL)
        return false;
    const int64_t rows = x->type->dims[1] / n, columns = x->type->dims[2] / n;
    const int64_t apart[6] = { 0, rows, n, columns, n, channels };
    const int64_t dims[4] = { 0, rows, columns, channels * n * n };
    prt_to_nhwc_replace(b, root, 0,
        moved(b, x, 6, apart, prt_str_is(a->mode, "DCR") ? turn : crd, 4, dims));
    return true;
}
