/* SPDX-License-Identifier: MIT */
/* not_into_where.c — fuse_not_into_where: Where(Not(c), x, y) becomes Where(c, y, x). The Not stays
 * where something else reads it. */
#include "pass/engine/match.h"

static bool apply_not(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_value *condition = prt_op_input(root, 0);
    (void)p;
    if (condition == NULL || !prt_op_is(condition->def, PRT_OP_not))
        return false;
    prt_value *in[3] = { prt_op_input(condition->def, 0), prt_op_input(root, 2),
        prt_op_input(root, 1) };
    return prt_match_replace_op(b, root, PRT_OP_where, NULL, 3, in);
}

PRT_PASS_OF_REWRITE(fuse_not_into_where, PRT_OP_where, apply_not);
