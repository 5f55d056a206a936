/* SPDX-License-Identifier: MIT */
/*
 * test_hostile.c — every operator with inputs of wrong kinds, with too few and too many inputs, and
 * without attributes; operators that take long to fold; refused memory. Covers: convert.c, call.c,
 * fold.c, all rows of operators.def.
 */
#include <stdio.h>

#include "base/mem.h"
#include "support/check_main.h"
#include "support/graphdef_text.h"
#include "tensorflow/table.h"
#include "tflite/tflite.h"

enum { MAX_IN = 4, MAX_GRAPH = 1 << 16 };

/* Tensors of each kind: of types, of ranks, constants with usual and unusual numbers; lists,
 * complex tensors, variables, and a node without outputs. */
#define SOURCES                                                                                    \
    "p = Placeholder() dtype=float shape=[2,3]\nq = Placeholder() dtype=float shape=[*]\n"         \
    "r = Placeholder() dtype=int32 shape=[?]\nb = Placeholder() dtype=bool shape=[]\n"             \
    "s = Placeholder() dtype=string shape=[2]\nim = Placeholder() dtype=float shape=[1,4,4,3]\n"   \
    "v = Const() value=float[]{0.5}\nk = Const() value=int32[]{1}\n"                               \
    "n = Const() value=int32[]{-2147483648}\nm = Const() value=int64[2]{9223372036854775807, 2}\n" \
    "d = Const() value=int32[2]{2147483647, 2147483647}\ne = Const() value=float[0]{}\n"           \
    "t = Const() value=string[]{\"a\"}\nl = EmptyTensorList(d, k) element_dtype=float\n"           \
    "c = Complex(p, p) T=float Tout=complex64\nh = VarHandleOp() dtype=float shape=[2]\n"          \
    "z = NoOp()\nw = Identity(p) T=float\n"

static const char *const sources[] = { "p", "q", "r", "b", "s", "im", "v", "k", "n", "m", "d", "e",
    "t", "l", "c", "h", "z", "w" };

#define ATTRIBUTES                                                                                 \
    "T=float N=2 dtype=float axis=0 num=2 num_split=2 Tout=float DstT=float out_type=int32 "       \
    "ksize=(1, 2, 2, 1) strides=(1, 1, 1, 1) padding=\"SAME\" block_size=2 equation=\"ab,bc->ac\""

static void read(prt_blob *graph, size_t output)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "y%zu", output);
    const prt_tf_options options = { .outputs = name };
    prt_module *m = NULL;
    if (prt_tf_read_bytes(&prt_mem_libc, graph, "hostile", &options, &m) != POPRT_OK)
        return;
    if (prt_ir_verify(m) != POPRT_OK)
        ck_abort_msg("%s: %s", name, prt_error_last()->message);
    prt_module_release(m);
}

/* Writes a node "yK" of an operator to `to`; input i is source `from + i * step`. */
static size_t write_node(char *to, size_t capacity, size_t number, const char *op, size_t n_in,
    size_t from, size_t step, const char *attributes)
{
    int at = snprintf(to, capacity, "y%zu = %s(", number, op);
    for (size_t i = 0; i < n_in; i++)
        at += snprintf(to + at, capacity - (size_t)at, "%s%s", i != 0 ? ", " : "",
            sources[(from + i * step) % PRT_COUNT_OF(sources)]);
    at += snprintf(to + at, capacity - (size_t)at, ") %s\n", attributes);
    return (size_t)at;
}

/* Reads nodes of an operator one by one. */
static void try_operator(const char *op)
{
    static char text[MAX_GRAPH];
    prt_blob *graph = NULL;
    size_t at = (size_t)snprintf(text, sizeof(text), "%s", SOURCES), count = 0;
    for (size_t n_in = 0; n_in <= MAX_IN; n_in++)
        for (size_t from = 0; from < PRT_COUNT_OF(sources); from++)
            at += write_node(text + at, sizeof(text) - at, count++, op, n_in, from,
                (from + n_in) % 4, from % 3 != 0 ? ATTRIBUTES : "");
    const msg *bytes = graphdef_from_text(text);
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, bytes->data, bytes->size, NULL, NULL, &graph),
        POPRT_OK);
    for (size_t i = 0; i < count; i++)
        read(graph, i);
    prt_blob_release(graph);
}

START_TEST(operators_accept_or_refuse_any_inputs)
{
    const char *next = NULL;
    for (size_t i = 0; i < prt_tf_row_count(); i++)
        try_operator(prt_tf_next_row(i, &next).name);
}
END_TEST

/* Each of the convolutions of a file of 2 KB takes 8e8 multiplications. */
START_TEST(constants_are_folded_within_a_number_of_steps)
{
    static char text[4000];
    size_t at = (size_t)snprintf(text, sizeof(text),
        "x = Const() value=float[1,512,512,1]{1.0}\nw = Const() value=float[449,449,1,1]{1.0}\n");
    for (int i = 0; i < 20; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at,
            "y%d = Conv2D(x, w) T=float strides=(1, 1, 1, 1) padding=\"VALID\"\n", i);
    assert_graphdef_has(text, "conv");
}
END_TEST

/* A stitched tensor has as many rows as the largest index says: here 2^31. */
START_TEST(small_models_do_not_become_large)
{
    assert_graphdef_has("i = Const() value=int32[2]{2147483646, 0}\n"
                        "v = Const() value=float[2]{1, 2}\n"
                        "y = DynamicStitch(i, v) N=1 T=float\n",
        "expand scatter_nd");
}
END_TEST

/* ---- memory */

/* A loop that stacks a list, and a function. */
#define LOOP                                                                                       \
    "x = Placeholder() dtype=float shape=[4,3]\nshape = Const() value=int32[1]{3}\n"               \
    "n = Const() value=int32[]{4}\nzero = Const() value=int32[]{0}\n"                              \
    "l = TensorListReserve(shape, n) element_dtype=float\n"                                        \
    "w = While(zero, l, x) cond=@more body=@step T=(int32,variant,float)\n"                        \
    "s = TensorListStack(w:1, shape) element_dtype=float\n"                                        \
    "y = PartitionedCall(s) f=@twice Tin=(float) Tout=(float)\n"                                   \
    "def twice(a: float) -> (r: float = s:z:0) {\n  s = AddV2(a, a) T=float\n}\n"                  \
    "def more(i: int32, l: variant, x: float) -> (r: bool = s:z:0) {\n"                            \
    "  n = Const() value=int32[]{4}\n  s = Less(i, n:output:0) T=int32\n}\n"                       \
    "def step(i: int32, l: variant, x: float) -> (j: int32 = k:z:0, m: variant = set:out:0, "      \
    "z: float = x) {\n"                                                                            \
    "  one = Const() value=int32[]{1}\n  k = AddV2(i, one:output:0) T=int32\n"                     \
    "  axis = Const() value=int32[]{0}\n"                                                          \
    "  row = GatherV2(x, i, axis:output:0) Tparams=float Tindices=int32 Taxis=int32\n"             \
    "  set = TensorListSetItem(l, i, row:output:0) element_dtype=float\n}\n"

/* Refuses request `refused`, and counts live allocations. */
typedef struct memory {
    size_t requests, refused, live;
} memory;

static void *refuse_one(void *user, size_t size, size_t align)
{
    memory *m = user;
    if (m->requests++ == m->refused)
        return NULL;
    void *ptr = prt_mem_libc.alloc(prt_mem_libc.user, size, align);
    m->live += ptr != NULL;
    return ptr;
}

static void count_release(void *user, void *ptr)
{
    ((memory *)user)->live--;
    prt_mem_libc.release(prt_mem_libc.user, ptr);
}

typedef poprt_status (*reader)(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_module **out);

/* Each request for memory is refused in turn: alone, and with all later ones. */
static void sweep(reader read_model, const void *bytes, size_t size)
{
    const prt_tf_options none = { 0 };
    for (int all_after = 0; all_after < 2; all_after++)
        for (size_t n = 0;; n++) {
            memory one = { .refused = n };
            failing all = { .left = n };
            const prt_allocator allocator = all_after
                ? failing_allocator(&all)
                : (prt_allocator){ .user = &one, .alloc = refuse_one, .release = count_release };
            prt_blob *blob = NULL;
            prt_module *m = NULL;
            if (prt_blob_borrow(&prt_mem_libc, bytes, size, NULL, NULL, &blob) != POPRT_OK)
                ck_abort();
            const poprt_status status = read_model(&allocator, blob, "memory", &none, &m);
            const bool ended = all_after ? all.left != 0 : one.requests <= n;
            if (status == POPRT_OK && !ended && !all_after && prt_ir_verify(m) != POPRT_OK)
                ck_abort_msg("%s", prt_error_last()->message);
            if (status == POPRT_OK)
                prt_module_release(m);
            prt_blob_release(blob);
            if ((status != POPRT_OK && status != POPRT_E_NOMEM) || one.live + all.live != 0)
                ck_abort_msg("request %zu: status %d, %zu blocks left: %s", n, status,
                    one.live + all.live, prt_error_last()->message);
            if (ended) {
                ck_assert_uint_gt(n, 50);
                break;
            }
        }
}

START_TEST(a_graph_is_refused_where_memory_is)
{
    const msg *graph = graphdef_from_text(LOOP);
    sweep(prt_tf_read_bytes, graph->data, graph->size);
}
END_TEST

START_TEST(a_tflite_file_is_refused_where_memory_is)
{
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(PRT_TEST_DATA "/tflite/control.tflite", "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    sweep(prt_tflite_read_bytes, bytes, size);
}
END_TEST

PRT_TEST_MAIN("tensorflow/hostile", operators_accept_or_refuse_any_inputs,
    constants_are_folded_within_a_number_of_steps, small_models_do_not_become_large,
    a_graph_is_refused_where_memory_is, a_tflite_file_is_refused_where_memory_is)
