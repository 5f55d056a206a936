/* SPDX-License-Identifier: MIT */
/* depth_to_space.c — DepthToSpace and SpaceToDepth with channels last. */
#include "pass/layout/to_nhwc.h"

/* Adds a Reshape to dims `split`, a Transpose and a Reshape to dims `last`. */
static prt_value *reshape_transpose_reshape(prt_build *b, prt_value *x, uint32_t rank,
    const int64_t *split, const int64_t *perm, uint32_t last_rank, const int64_t *last)
{
    x = prt_match_add_transpose(b, prt_match_add_reshape(b, x, rank, split), rank, perm);
    return prt_match_add_reshape(b, x, last_rank, last);
}

prt_value *prt_to_nhwc_place_blocks(prt_build *b, prt_value *x, uint32_t axes, const int64_t *block,
    const int64_t *size, int64_t channels)
{
    int64_t split[2 * PRT_TO_NHWC_MAX_RANK] = { 0 }, perm[2 * PRT_TO_NHWC_MAX_RANK] = { 0 };
    int64_t image[PRT_TO_NHWC_MAX_RANK] = { 0 };
    bool moves = false; /* pixels of a block are not contiguous yet */
    for (uint32_t i = 0; i < axes; i++) {
        const bool last = i + 1 == axes;
        split[1 + axes + i] = last ? block[i] * channels : block[i];
        perm[1 + 2 * i] = 1 + i;
        perm[2 + 2 * i] = 1 + axes + i;
        image[1 + i] = size[i];
        moves = moves || (!last && block[i] != 1);
    }
    image[1 + axes] = channels;
    return moves ? reshape_transpose_reshape(b, x, 1 + 2 * axes, split, perm, 2 + axes, image)
                 : prt_match_add_reshape(b, x, 2 + axes, image);
}

/* Returns the input with channels last, if all dims but the batch are known; otherwise NULL. */
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

bool prt_to_nhwc_depth_to_space(prt_build *b, prt_op *root)
{
    static const int64_t perm[6] = { 0, 1, 4, 2, 5, 3 };
    const prt_depth_to_space_attrs *a = root->attrs;
    int64_t channels;
    prt_value *x = source_of(root, &channels);
    const int64_t n = a->blocksize;
    if (x == NULL)
        return false;
    const int64_t rows = x->type->dims[1] * n, columns = x->type->dims[2] * n;
    channels /= n * n;
    const int64_t block[2] = { n, n }, split[6] = { 0, 0, 0, channels, n, n };
    const int64_t dims[4] = { 0, rows, columns, channels };
    prt_to_nhwc_replace(b, root, 0,
        prt_str_is(a->mode, "DCR") ? prt_to_nhwc_place_blocks(b, x, 2, block, dims + 1, channels)
                                   : reshape_transpose_reshape(b, x, 6, split, perm, 4, dims));
    return true;
}

bool prt_to_nhwc_space_to_depth(prt_build *b, prt_op *root)
{
    static const int64_t perm[6] = { 0, 1, 3, 2, 4, 5 }, crd[6] = { 0, 1, 3, 5, 2, 4 };
    const prt_space_to_depth_attrs *a = root->attrs;
    int64_t channels;
    prt_value *x = source_of(root, &channels);
    const int64_t n = a->blocksize;
    if (x == NULL)
        return false;
    const int64_t rows = x->type->dims[1] / n, columns = x->type->dims[2] / n;
    const int64_t split[6] = { 0, rows, n, columns, n, channels };
    const int64_t dims[4] = { 0, rows, columns, channels * n * n };
    prt_to_nhwc_replace(b, root, 0,
        reshape_transpose_reshape(b, x, 6, split, prt_str_is(a->mode, "DCR") ? perm : crd, 4,
            dims));
    return true;
}
