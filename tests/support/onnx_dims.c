/* SPDX-License-Identifier: MIT */
/*
 * onnx_dims.c — checks the dimensions of a model that inference knows.
 *
 *     onnx_dims [--known] [--types] MODEL...
 *
 * Each MODEL is a DIR or DIR/model.onnx with DIR/test_data_set_K/input_I.pb, as `poprt test` reads
 * them. Every value of the main graph is computed for each data set. Each dimension and each known
 * integer, evaluated with the sizes of that data set's inputs, must equal that of the computed
 * value. Prints the values whose dims are not numbers or expressions of the inputs, although all
 * operands of their operator are known; with --known any such value is a failure. With --types
 * every type is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "converter/onnx.h"
#include "ir/interp.h"

enum { TEXT_SIZE = 1024, PATH_SIZE = 4096 };

typedef struct options {
    bool known, types;
} options;

typedef struct model {
    const char *folder;
    prt_module *m;
    PRT_VEC(prt_value *) values; /* of the main graph's ops */
    int64_t *numbers;            /* by index of a dim expression: its value in this run */
    bool *known;                 /* by index too: whether it consists of the inputs' symbols */
    size_t failures, open, dims;
} model;

static void require_ok(poprt_status status, const char *what)
{
    if (status == POPRT_OK)
        return;
    const poprt_error *e = prt_error_last();
    (void)printf("%s: %s: %s: %s\n", what, prt_status_name(e->status), e->subject, e->message);
    exit(1);
}

static bool is_known(const model *t, int64_t dim)
{
    return prt_dim_is_number(dim) || (prt_dim_is_expr(dim) && t->known[prt_dim_index(dim)]);
}

static bool is_open(const model *t, const prt_type *type)
{
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0)
        return true;
    for (int32_t i = 0; i < type->rank; i++)
        if (!is_known(t, type->dims[i]))
            return true;
    return false;
}

static void find_known(model *t)
{
    const prt_dims *dims = t->m->dims;
    for (size_t i = 0; i < t->m->main->inputs.count; i++) {
        const prt_type *type = t->m->main->inputs.data[i]->type;
        for (int32_t k = 0; type->kind == PRT_VALUE_TENSOR && k < type->rank; k++)
            if (prt_dim_is_expr(type->dims[k]))
                t->known[prt_dim_index(type->dims[k])] = true;
    }
    for (size_t i = 0; i < prt_dims_count(dims); i++) {
        const prt_dim_node *n = prt_dims_at(dims, i);
        if (n->op != PRT_DIM_SYMBOL)
            t->known[i] = is_known(t, n->a) && is_known(t, n->b);
    }
}

/* Takes the sizes of symbols from the inputs, then computes every node from earlier ones. */
static void bind_symbols(model *t, const prt_tensor *const *in)
{
    const prt_dims *dims = t->m->dims;
    for (size_t i = 0; i < prt_dims_count(dims); i++)
        t->numbers[i] = PRT_DIM_UNKNOWN;
    for (size_t i = 0; i < t->m->main->inputs.count; i++) {
        const prt_type *type = t->m->main->inputs.data[i]->type;
        for (int32_t k = 0; type->kind == PRT_VALUE_TENSOR && k < type->rank; k++)
            if (prt_dim_is_expr(type->dims[k]))
                t->numbers[prt_dim_index(type->dims[k])] = in[i]->dims[k];
    }
    for (size_t i = 0; i < prt_dims_count(dims); i++) {
        const prt_dim_node *n = prt_dims_at(dims, i);
        if (n->op == PRT_DIM_SYMBOL)
            continue;
        const int64_t a = prt_dim_is_expr(n->a) ? t->numbers[prt_dim_index(n->a)] : n->a;
        const int64_t b = prt_dim_is_expr(n->b) ? t->numbers[prt_dim_index(n->b)] : n->b;
        t->numbers[i] = prt_dim_apply((prt_dim_op)n->op, a, b);
    }
}

/* Returns whether unknown dims begin at this op: all its operands are known. */
static bool is_first(const model *t, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && is_open(t, op->in[i].value->type))
            return false;
    return true;
}

static void print_value(const model *t, const char *word, const prt_value *v)
{
    char text[TEXT_SIZE];
    prt_type_print(t->m->dims, v->type, text, sizeof(text));
    (void)printf("%s %s: %.*s %.*s : %s", word, t->folder, PRT_STR_ARG(v->def->name),
        PRT_STR_ARG(v->name), text);
    for (uint32_t k = 0; v->content != NULL && k < v->content->count; k++) {
        prt_dim_print(t->m->dims, v->content->values[k], text, sizeof(text));
        (void)printf("%s%s", k == 0 ? " = " : " ", text);
    }
    (void)printf("\n");
}

static void list_values(model *t, const options *o)
{
    prt_for_each_op (op, t->m->main) {
        for (uint32_t i = 0; i < op->n_out; i++) {
            prt_value *v = &op->out[i];
            if (v->name.size == 0 && v->uses == NULL)
                continue;
            if (!PRT_VEC_PUSH(t->m->arena, &t->values, v))
                exit(1);
            const bool open = is_open(t, v->type), first = open && is_first(t, op);
            t->open += open;
            t->dims += v->type->rank > 0 ? (size_t)v->type->rank : 0;
            if (first || o->types)
                print_value(t, first ? "first" : open ? "open" : "known", v);
        }
    }
}

static void expect(model *t, const prt_value *v, const char *what, uint32_t i, int64_t dim,
    int64_t real)
{
    char text[TEXT_SIZE];
    if (!is_known(t, dim))
        return;
    const int64_t said = prt_dim_is_number(dim) ? dim : t->numbers[prt_dim_index(dim)];
    if (said == real || (said == PRT_DIM_UNKNOWN && strcmp(what, "element") == 0))
        return; /* a ratio that is not an integer has no value here */
    prt_dim_print(t->m->dims, dim, text, sizeof(text));
    (void)printf("%s: %.*s: %s %u is %lld, inferred %s = %lld\n", t->folder, PRT_STR_ARG(v->name),
        what, i, (long long)real, text, (long long)said);
    t->failures++;
}

static void compare(model *t, const prt_value *v, const prt_tensor *real)
{
    const prt_type *type = v->type;
    if (real->kind != PRT_VALUE_TENSOR || type->kind != PRT_VALUE_TENSOR || type->rank < 0)
        return;
    if (type->rank != (int32_t)real->rank || type->dtype != real->dtype) {
        (void)printf("%s: %.*s: rank or element type differ\n", t->folder, PRT_STR_ARG(v->name));
        t->failures++;
        return;
    }
    for (uint32_t i = 0; i < real->rank; i++)
        expect(t, v, "dim", i, type->dims[i], real->dims[i]);
    if (v->content == NULL)
        return;
    expect(t, v, "count", 0, v->content->count, (int64_t)prt_tensor_count(real));
    for (uint32_t k = 0; k < v->content->count && k < prt_tensor_count(real); k++) {
        const int64_t element = prt_dtype_is_float(real->dtype)
            ? (int64_t)prt_load_f64(real->dtype, real->data, k)
            : prt_load_i64(real->dtype, real->data, k);
        expect(t, v, "element", k, v->content->values[k], element);
    }
}

static void run_set(model *t, const char *folder)
{
    const prt_graph *g = t->m->main;
    const uint32_t n_in = (uint32_t)g->inputs.count, n_out = (uint32_t)t->values.count;
    prt_arena *arena = NULL;
    require_ok(prt_arena_create(&prt_mem_libc, 0, &arena), folder);
    prt_tensor *in = PRT_NEW_N(arena, prt_tensor, n_in), *out = PRT_NEW_N(arena, prt_tensor, n_out);
    const prt_tensor **refs = PRT_NEW_N(arena, const prt_tensor *, n_in);
    prt_blob **files = PRT_NEW_N(arena, prt_blob *, n_in + 1);
    if (in == NULL || out == NULL || refs == NULL || files == NULL)
        exit(1);
    for (uint32_t i = 0; i < n_in; i++) {
        char path[PATH_SIZE + 64];
        (void)snprintf(path, sizeof(path), "%s/input_%u.pb", folder, i);
        require_ok(prt_file_map(&prt_mem_libc, path, &files[i]), path);
        require_ok(prt_onnx_read_value(arena, files[i], PRT_VALUE_TENSOR, &in[i]), path);
        refs[i] = &in[i];
    }
    bind_symbols(t, refs);
    require_ok(prt_ir_run(g, n_in, refs, n_out, out, arena), folder);
    for (uint32_t i = 0; i < n_out; i++)
        compare(t, t->values.data[i], &out[i]);
    for (uint32_t i = 0; i < n_in; i++)
        prt_blob_release(files[i]);
    prt_arena_release(arena);
}

/* Makes every listed value an output, so that a run computes all of them. */
static void output_all(model *t)
{
    const uint32_t n = (uint32_t)t->values.count;
    prt_str *names = PRT_NEW_N(t->m->arena, prt_str, n);
    for (uint32_t i = 0; names != NULL && i < n; i++)
        names[i] = t->values.data[i]->name;
    require_ok(names != NULL ? prt_graph_set_outputs(t->m->main, n, t->values.data, names)
                             : POPRT_E_NOMEM,
        t->folder);
}

static bool check(char *folder, const options *o)
{
    char path[PATH_SIZE];
    char *name = strrchr(folder, '/');
    if (name != NULL && strcmp(name, "/model.onnx") == 0)
        *name = '\0';
    const prt_onnx_limits limits = { .copy_below = SIZE_MAX };
    model t = { .folder = folder };
    uint32_t sets = 0;
    (void)snprintf(path, sizeof(path), "%s/model.onnx", folder);
    require_ok(prt_onnx_read_file(&prt_mem_libc, path, &limits, &t.m), path);
    t.numbers = PRT_NEW_N(t.m->arena, int64_t, prt_dims_count(t.m->dims) + 1);
    t.known = PRT_NEW_N(t.m->arena, bool, prt_dims_count(t.m->dims) + 1);
    if (t.numbers == NULL || t.known == NULL)
        exit(1);
    find_known(&t);
    list_values(&t, o);
    output_all(&t);
    for (;; sets++) {
        (void)snprintf(path, sizeof(path), "%s/test_data_set_%u", folder, sets);
        if (access(path, F_OK) != 0)
            break;
        run_set(&t, path);
    }
    (void)printf("%s: %zu dims of %zu values, %zu values open, %zu expressions, %u runs, "
                 "%zu wrong\n",
        folder, t.dims, (size_t)t.values.count, t.open, prt_dims_count(t.m->dims), sets,
        t.failures);
    const bool good = t.failures == 0 && (!o->known || (t.open == 0 && sets > 0));
    prt_module_release(t.m);
    return good;
}

int main(int argc, char **argv)
{
    options o = { 0 };
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--known") == 0)
            o.known = true;
        else if (strcmp(argv[i], "--types") == 0)
            o.types = true;
        else
            failed += !check(argv[i], &o);
    return failed != 0;
}
