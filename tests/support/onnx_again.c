/* SPDX-License-Identifier: MIT */
/*
 * onnx_again.c — reads a model, writes it, and checks that nothing was lost on the way.
 *
 *     onnx_again [--data] IN OUT
 *
 * OUT is read again and must print as the same graph text. Nodes that were in canonical form
 * must have kept their bytes. With --data, constants go to a file beside OUT.
 */
#include <stdio.h>
#include <string.h>

#include "converter/onnx.h"
#include "converter/onnx_names.h"

static int complain(const char *what)
{
    const poprt_error *e = prt_error_last();
    printf("%s: %s: %s: %s\n", what, prt_status_name(e->status), e->subject, e->message);
    return 1;
}

static bool is_canonical(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_regions; i++)
        prt_for_each_op (inner, op->regions[i])
            if (!is_canonical(inner))
                return false;
    return op->source != NULL;
}

/* Counts the nodes whose bytes are unchanged, and in `due` the nodes in canonical form, which
 * must be. */
static size_t count_kept(const prt_module *a, const prt_module *b, size_t *due)
{
    size_t kept = 0;
    const prt_op *y = b->main->first;
    for (const prt_op *x = a->main->first; x != NULL && y != NULL; x = x->next, y = y->next) {
        const bool is_due = is_canonical(x);
        *due += is_due;
        kept += is_due && y->source != NULL && x->source_size == y->source_size &&
            memcmp(x->source, y->source, x->source_size) == 0;
    }
    return kept;
}

/* Gives unnamed values the names that they have in the file, so that texts can be compared. */
static poprt_status name_all(const prt_names *names, const prt_graph *g)
{
    for (size_t i = 0; i < g->constants.count; i++)
        PRT_TRY(
            prt_value_set_name(g->constants.data[i], prt_names_value(names, g->constants.data[i])));
    prt_for_each_op (op, g) {
        op->origin = prt_names_node(names, op);
        for (uint32_t i = 0; i < op->n_out; i++)
            PRT_TRY(prt_value_set_name(&op->out[i], prt_names_value(names, &op->out[i])));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(name_all(names, op->regions[i]));
    }
    return POPRT_OK;
}

int main(int argc, char **argv)
{
    const size_t most = argc > 1 && strcmp(argv[1], "--data") == 0 ? 1 : 0;
    if ((size_t)argc != 3 + most)
        return 2;
    const char *in = argv[1 + most], *out = argv[2 + most];
    prt_module *a = NULL, *b = NULL;
    prt_arena *arena = NULL;
    prt_str before, after;
    size_t due = 0;
    if (prt_onnx_read_file(&prt_mem_libc, in, NULL, &a) != POPRT_OK)
        return complain("read");
    if (prt_onnx_write_file(a, out, most) != POPRT_OK)
        return complain("write");
    if (prt_onnx_read_file(&prt_mem_libc, out, NULL, &b) != POPRT_OK)
        return complain("read again");
    prt_names *names = NULL;
    if (prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK ||
        prt_names_create(a, arena, &names) != POPRT_OK || name_all(names, a->main) != POPRT_OK ||
        prt_ir_print(a->main, arena, &before) != POPRT_OK ||
        prt_ir_print(b->main, arena, &after) != POPRT_OK)
        return complain("print");
    const size_t kept = count_kept(a, b, &due);
    printf("%zu of %zu nodes kept their bytes\n", kept, due);
    if (!prt_str_equal(before, after)) {
        printf("text differs\n--- before\n%s\n--- after\n%s\n", before.data, after.data);
        return 1;
    }
    if (kept != due)
        return 1;
    prt_arena_release(arena);
    prt_module_release(a);
    prt_module_release(b);
    return 0;
}
