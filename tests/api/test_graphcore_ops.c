/* SPDX-License-Identifier: MIT */
/*
 * test_graphcore_ops.c — operators of ai.graphcore that move, count and compare elements, or
 * compute with whole numbers: each by its function of the builder, in every element type that it
 * accepts, compiled and run.
 */
#include "typed.h"

#define T(name) ((uint64_t)1 << POPRT_DTYPE_##name)
#define TYPES_FB (T(FLOAT16) | T(BFLOAT16) | T(FLOAT32) | T(FLOAT64))
#define TYPES_SIGNED (T(INT8) | T(INT16) | T(INT32) | T(INT64))
#define TYPES_INT (TYPES_SIGNED | T(UINT8) | T(UINT16) | T(UINT32) | T(UINT64))
#define TYPES_NUM (TYPES_INT | TYPES_FB)
#define TYPES_F8 (T(FLOAT8E4M3FN) | T(FLOAT8E4M3FNUZ) | T(FLOAT8E5M2) | T(FLOAT8E5M2FNUZ))
#define TYPES_MOVE (TYPES_NUM | T(BOOL) | TYPES_F8)
#define TYPES_SUMS (TYPES_FB | T(INT32) | T(UINT32))

enum { MOST = 32, ZERO = -1 };

/* The input: [2, 3] in every type. */
static const double input[6] = { 1, 2, 3, 4, 0, 2 };

typedef struct row {
    const char *name;
    uint64_t types;
    poprt_id (*make)(poprt_builder *b, poprt_id x, int32_t dtype);
    bool moves; /* `want` has indices of elements of the input, or ZERO; else numbers */
    size_t count;
    double want[MOST];
} row;

#define MAKE(id, expression)                                                                       \
    static poprt_id make_##id(poprt_builder *b, poprt_id x, int32_t dtype)                         \
    {                                                                                              \
        (void)dtype;                                                                               \
        (void)x;                                                                                   \
        return expression;                                                                         \
    }
#define CONSTANT(values, dims) add_numbers(b, NULL, false, dtype, values, dims)
#define U32(...)                                                                                   \
    add_numbers(b, NULL, false, POPRT_DTYPE_UINT32, NUMBERS(__VA_ARGS__),                          \
        SHAPE(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))

/* A subgraph that returns its inputs in reverse order. */
static poprt_id make_call(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_type type = { .dtype = dtype, .rank = 2, .dims = { 2, 3 } };
    poprt_builder *body = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, "swap", &body));
    const poprt_id first = poprt_builder_input(body, NULL, &type, NULL);
    const poprt_id second = poprt_builder_input(body, NULL, &type, NULL);
    ck_assert_ok(poprt_builder_output(body, poprt_op_gc_nop(body, second, NULL)));
    ck_assert_ok(poprt_builder_output(body, poprt_op_gc_nop(body, first, NULL)));
    const poprt_id reversed =
        poprt_op_gc_reverse(b, x, ATTRS(gc_reverse, .dimensions = POPRT_INTS(0)));
    poprt_id out[2];
    (void)poprt_op_gc_call(b, 2, (const poprt_id[]){ x, reversed }, ATTRS(gc_call, .callee = body),
        2, out);
    poprt_builder_release(body);
    return out[0];
}

/* Sequences of one and two rows of [2, 3]; the callback returns its input. */
static poprt_id make_packed(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_type type = { .dtype = dtype, .rank = 3, .dims = { 1, 2, 3 } };
    poprt_builder *body = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, "rows", &body));
    const poprt_id rows = poprt_builder_input(body, NULL, &type, NULL);
    ck_assert_ok(poprt_builder_output(body, poprt_op_gc_nop(body, rows, NULL)));
    const poprt_id offsets = U32(1, 0), lengths = U32(1, 2), to = U32(3, 0);
    const poprt_id y =
        poprt_op_gc_packed_data_block(b, 5, (const poprt_id[]){ x, offsets, lengths, to, lengths },
            ATTRS(gc_packed_data_block, .maxSequenceLengths = POPRT_INTS(2),
                .resultSize = poprt_int(4), .callbackBatchSize = poprt_int(1), .callback = body));
    poprt_builder_release(body);
    return y;
}

/* PopART's number of an element type. */
static int64_t popart_type(int32_t dtype)
{
    static const int32_t types[] = { POPRT_DTYPE_UINT8, POPRT_DTYPE_INT8,
        POPRT_DTYPE_FLOAT8E4M3FNUZ, POPRT_DTYPE_FLOAT8E5M2FNUZ, POPRT_DTYPE_UINT16,
        POPRT_DTYPE_INT16, POPRT_DTYPE_INT32, POPRT_DTYPE_INT64, POPRT_DTYPE_UINT32,
        POPRT_DTYPE_UINT64, POPRT_DTYPE_BOOL, POPRT_DTYPE_FLOAT32, POPRT_DTYPE_FLOAT16,
        POPRT_DTYPE_BFLOAT16, POPRT_DTYPE_FLOAT64 };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i] == dtype)
            return (int64_t)i;
    ck_abort_msg("PopART has no type %d", dtype);
    return -1;
}

static poprt_id sort_of(poprt_builder *b, poprt_id x, const poprt_gc_sort_attrs *attrs, int index)
{
    poprt_id out[2];
    (void)poprt_op_gc_sort(b, x, attrs, 2, out);
    return out[index];
}

static poprt_id median_of(poprt_builder *b, poprt_id x, int index)
{
    poprt_id out[2];
    (void)poprt_op_gc_reduce_median(b, x, ATTRS(gc_reduce_median, .axes = POPRT_INTS(1)), 2, out);
    return out[index];
}

static poprt_id all_reduce(poprt_builder *b, poprt_id x)
{
    poprt_id out[2];
    (void)poprt_op_gc_all_reduce(b, 2, (const poprt_id[]){ x, x }, NULL, 2, out);
    return out[1];
}

/* An Abort whose condition is false. */
static poprt_id abort_if_zero(poprt_builder *b, poprt_id x)
{
    const poprt_id zero = poprt_op_gc_slice(b, x,
        ATTRS(gc_slice, .starts = POPRT_INTS(1, 1), .ends = POPRT_INTS(2, 2)));
    (void)poprt_op_gc_abort(b, zero, NULL);
    return x;
}

static poprt_id after(poprt_builder *b, poprt_id x, poprt_id none)
{
    (void)none;
    return poprt_op_gc_nop(b, x, NULL);
}

MAKE(nop, poprt_op_gc_nop(b, x, NULL))
MAKE(detach, poprt_op_gc_detach(b, x, NULL))
MAKE(remap, poprt_op_gc_tensor_remap(b, x, NULL))
MAKE(proxy, poprt_op_gc_auto_loss_scale_proxy(b, x, NULL))
MAKE(print, poprt_op_gc_print_tensor(b, x, NULL))
MAKE(host_load, poprt_op_gc_host_load(b, x, NULL))
MAKE(host_store, after(b, x, poprt_op_gc_host_store(b, x, NULL)))
MAKE(abort, abort_if_zero(b, x))
MAKE(update,
    poprt_op_gc_copy_var_update(b,
        add_numbers(b, "v", true, dtype, NUMBERS(3, 3, 3, 3, 3, 3), SHAPE(2, 3)), x, NULL))
MAKE(dropout, poprt_op_gc_shaped_dropout(b, x, ATTRS(gc_shaped_dropout, .shape = POPRT_INTS(2, 1))))
MAKE(init,
    poprt_op_gc_init(b,
        ATTRS(gc_init, .shape = POPRT_INTS(2, 2), .data_type = poprt_int(popart_type(dtype)),
            .init_type = poprt_int(1))))
MAKE(zeros,
    poprt_op_gc_zeros(b, ATTRS(gc_zeros, .shape = POPRT_INTS(2), .dtype = poprt_int(dtype))))
MAKE(zeros_like, poprt_op_gc_zeros_like(b, x, NULL))
MAKE(reshape, poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(3, -1))))
MAKE(reverse, poprt_op_gc_reverse(b, x, ATTRS(gc_reverse, .dimensions = POPRT_INTS(1))))
MAKE(slice,
    poprt_op_gc_slice(b, x,
        ATTRS(gc_slice, .starts = POPRT_INTS(1), .ends = POPRT_INTS(3), .axes = POPRT_INTS(1))))
MAKE(subsample, poprt_op_gc_subsample(b, x, ATTRS(gc_subsample, .strides = POPRT_INTS(2, 2))))
MAKE(flip,
    poprt_op_gc_conv_flip_weights(b,
        poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(2, 1, 3))), NULL))
MAKE(depth,
    poprt_op_gc_depth_to_space(b,
        poprt_op_gc_reshape(b,
            poprt_op_gc_slice(b, x,
                ATTRS(gc_slice, .starts = POPRT_INTS(0), .ends = POPRT_INTS(2),
                    .axes = POPRT_INTS(1))),
            ATTRS(gc_reshape, .shape = POPRT_INTS(1, 4, 1, 1))),
        ATTRS(gc_depth_to_space, .blocksize = poprt_int(2))))
MAKE(dynamic_slice,
    poprt_op_gc_dynamic_slice(b, x, U32(1), 0,
        ATTRS(gc_dynamic_slice, .axes = POPRT_INTS(1), .sizes = POPRT_INTS(2))))
MAKE(dynamic_update,
    poprt_op_gc_dynamic_update(b, x, U32(1),
        poprt_op_gc_slice(b, x,
            ATTRS(gc_slice, .starts = POPRT_INTS(0), .ends = POPRT_INTS(1), .axes = POPRT_INTS(1))),
        ATTRS(gc_dynamic_update, .axes = POPRT_INTS(1), .sizes = POPRT_INTS(1))))
MAKE(dynamic_add,
    poprt_op_gc_dynamic_add(b, x, U32(1),
        poprt_op_gc_slice(b, x,
            ATTRS(gc_slice, .starts = POPRT_INTS(0), .ends = POPRT_INTS(1), .axes = POPRT_INTS(1))),
        ATTRS(gc_dynamic_add, .axes = POPRT_INTS(1), .sizes = POPRT_INTS(1))))
MAKE(dynamic_zero,
    poprt_op_gc_dynamic_zero(b, x, U32(2),
        ATTRS(gc_dynamic_zero, .axes = POPRT_INTS(1), .sizes = POPRT_INTS(1))))
MAKE(gather,
    poprt_op_gc_grouped_gather(b, x,
        poprt_op_gc_reshape(b, U32(2, 0, 1, 1), ATTRS(gc_reshape, .shape = POPRT_INTS(2, 2))),
        ATTRS(gc_grouped_gather, .axis = poprt_int(1), .group_size = poprt_int(2))))
MAKE(sequence_slice,
    poprt_op_gc_sequence_slice(b, x, x, U32(1), U32(0), U32(1),
        ATTRS(gc_sequence_slice, .zeroUnused = poprt_int(1))))
MAKE(sequence_slice_keeps, poprt_op_gc_sequence_slice(b, x, x, U32(1), U32(0), U32(1), NULL))
MAKE(scatter_none,
    poprt_op_gc_scatter_reduce(b, x, U32(2, 0, 1), 0,
        ATTRS(gc_scatter_reduce, .axis = poprt_int(1), .axis_size = poprt_int(3),
            .reduction = "none")))
MAKE(scatter_sum,
    poprt_op_gc_scatter_reduce(b, x, U32(1, 0, 1), 0,
        ATTRS(gc_scatter_reduce, .axis = poprt_int(1), .axis_size = poprt_int(2))))
MAKE(scatter_max,
    poprt_op_gc_scatter_reduce(b, x, U32(1, 0, 1), 0,
        ATTRS(gc_scatter_reduce, .axis = poprt_int(1), .axis_size = poprt_int(2),
            .reduction = "max")))
MAKE(scatter_mul,
    poprt_op_gc_scatter_reduce(b, x, U32(1, 0, 1), 0,
        ATTRS(gc_scatter_reduce, .axis = poprt_int(1), .axis_size = poprt_int(3),
            .reduction = "mul")))
MAKE(sort, sort_of(b, x, NULL, 0))
MAKE(sort_down, sort_of(b, x, ATTRS(gc_sort, .axis = poprt_int(1), .descending = poprt_int(1)), 0))
MAKE(sort_indices, sort_of(b, x, NULL, 1))
MAKE(median, median_of(b, x, 0))
MAKE(median_index, median_of(b, x, 1))
MAKE(bucketize, poprt_op_gc_bucketize(b, x, CONSTANT(NUMBERS(1, 2, 3), SHAPE(3)), NULL))
MAKE(bucketize_right,
    poprt_op_gc_bucketize(b, x, CONSTANT(NUMBERS(1, 2, 3), SHAPE(3)),
        ATTRS(gc_bucketize, .right = poprt_int(1))))
MAKE(square, poprt_op_gc_square(b, x, NULL))
MAKE(fmod, poprt_op_gc_fmod(b, x, CONSTANT(NUMBERS(3), SHAPE(1)), NULL))
MAKE(remainder, poprt_op_gc_remainder(b, x, CONSTANT(NUMBERS(3), SHAPE(1)), NULL))
MAKE(remainder_negative, poprt_op_gc_remainder(b, x, CONSTANT(NUMBERS(-3), SHAPE(1)), NULL))
MAKE(increment,
    poprt_op_gc_increment_mod(b, x,
        ATTRS(gc_increment_mod, .increment = poprt_float(2), .modulus = poprt_float(5))))
MAKE(scalar_sub,
    poprt_op_gc_binary_const_scalar(b, x,
        ATTRS(gc_binary_const_scalar, .op = "Sub", .value = poprt_float(4),
            .scalar_in_index = poprt_int(0))))
MAKE(bitwise_and, poprt_op_gc_bitwise_and(b, x, CONSTANT(NUMBERS(6), SHAPE(1)), NULL))
MAKE(bitwise_or, poprt_op_gc_bitwise_or(b, x, CONSTANT(NUMBERS(6), SHAPE(1)), NULL))
MAKE(bitwise_xor, poprt_op_gc_bitwise_xor(b, x, CONSTANT(NUMBERS(6), SHAPE(1)), NULL))
MAKE(bitwise_xnor,
    poprt_op_gc_bitwise_not(b, poprt_op_gc_bitwise_xnor(b, x, CONSTANT(NUMBERS(6), SHAPE(1)), NULL),
        NULL))
MAKE(scaled_add,
    poprt_op_gc_scaled_add(b, x, x, 0, 0,
        ATTRS(gc_scaled_add, .scale0 = poprt_float(2), .scale1 = poprt_float(3))))
MAKE(scale, poprt_op_gc_scale(b, x, ATTRS(gc_scale, .scale = poprt_float(0.5f))))
MAKE(all_reduce, all_reduce(b, x))
MAKE(replicated_all_reduce, poprt_op_gc_replicated_all_reduce(b, x, NULL))
MAKE(replicated_all_gather, poprt_op_gc_replicated_all_gather(b, x, 0, NULL))
MAKE(reduce_scatter, poprt_op_gc_replicated_reduce_scatter(b, x, 0, NULL))
MAKE(add_bias, poprt_op_gc_add_bias(b, x, CONSTANT(NUMBERS(1, 2, 4), SHAPE(3)), NULL))
MAKE(round,
    poprt_op_gc_round(b, poprt_op_gc_scale(b, x, ATTRS(gc_scale, .scale = poprt_float(0.5f))),
        NULL))
MAKE(nearby,
    poprt_op_gc_nearby_int(b, poprt_op_gc_scale(b, x, ATTRS(gc_scale, .scale = poprt_float(0.5f))),
        NULL))
MAKE(histogram, poprt_op_gc_histogram(b, x, ATTRS(gc_histogram, .levels = POPRT_FLOATS(1, 3))))
MAKE(l1, poprt_op_gc_l1(b, x, ATTRS(gc_l1, .lambda = poprt_float(2), .reduction = "Sum")))
MAKE(l1_mean, poprt_op_gc_l1(b, x, NULL))
MAKE(identity_loss, poprt_op_gc_identity_loss(b, x, ATTRS(gc_identity_loss, .reduction = "Sum")))
MAKE(identity_loss_mean, poprt_op_gc_identity_loss(b, x, NULL))
MAKE(nll,
    poprt_op_gc_nll(b, x, U32(2, 0),
        ATTRS(gc_nll, .reduction = "Sum", .inputIsLogProbability = poprt_int(1))))

#define MOVES(id, types, ...)                                                                      \
    {                                                                                              \
#id, types, make_##id, true, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double),     \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define GIVES(id, types, ...)                                                                      \
    {                                                                                              \
#id, types, make_##id, false, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double),    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SAME 0, 1, 2, 3, 4, 5

static const row rows[] = { MOVES(nop, TYPES_MOVE, SAME), MOVES(detach, TYPES_MOVE, SAME),
    MOVES(remap, TYPES_MOVE, SAME), MOVES(proxy, TYPES_MOVE, SAME),
    MOVES(print, TYPES_NUM | T(BOOL), SAME), MOVES(host_load, TYPES_MOVE, SAME),
    MOVES(host_store, TYPES_MOVE, SAME), MOVES(abort, TYPES_NUM | T(BOOL), SAME),
    MOVES(update, TYPES_SUMS, SAME), MOVES(dropout, TYPES_FB, SAME),
    MOVES(call, TYPES_MOVE, 3, 4, 5, 0, 1, 2),
    MOVES(packed, TYPES_MOVE, 0, 1, 2, 3, 4, 5, ZERO, ZERO, ZERO, 3, 4, 5),
    MOVES(init, TYPES_MOVE & ~(T(FLOAT8E4M3FN) | T(FLOAT8E5M2)), ZERO, ZERO, ZERO, ZERO),
    MOVES(zeros, TYPES_MOVE, ZERO, ZERO),
    MOVES(zeros_like, TYPES_MOVE, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO),
    MOVES(reshape, TYPES_MOVE, SAME), MOVES(reverse, TYPES_MOVE, 2, 1, 0, 5, 4, 3),
    MOVES(slice, TYPES_MOVE, 1, 2, 4, 5), MOVES(subsample, TYPES_MOVE, 0, 2),
    MOVES(flip, TYPES_MOVE, 2, 1, 0, 5, 4, 3), MOVES(depth, TYPES_MOVE, 0, 1, 3, 4),
    MOVES(dynamic_slice, TYPES_MOVE, 1, 2, 4, 5),
    MOVES(dynamic_update, TYPES_MOVE, 0, 0, 2, 3, 3, 5),
    GIVES(dynamic_add, TYPES_NUM, 1, 3, 3, 4, 4, 2),
    MOVES(dynamic_zero, TYPES_MOVE, 0, 1, ZERO, 3, 4, ZERO), MOVES(gather, TYPES_MOVE, 2, 0, 4, 4),
    MOVES(sequence_slice, TYPES_MOVE, ZERO, ZERO, ZERO, 0, 1, 2),
    MOVES(sequence_slice_keeps, TYPES_MOVE, 0, 1, 2, 0, 1, 2),
    MOVES(scatter_none, TYPES_NUM, 1, 2, 0, 4, 5, 3), GIVES(scatter_sum, TYPES_NUM, 2, 4, 0, 6),
    GIVES(scatter_max, TYPES_NUM, 2, 3, 0, 4), GIVES(scatter_mul, TYPES_NUM, 2, 3, 1, 0, 8, 1),
    MOVES(sort, TYPES_NUM, 0, 1, 2, 4, 5, 3), MOVES(sort_down, TYPES_NUM, 2, 1, 0, 3, 5, 4),
    GIVES(sort_indices, TYPES_NUM, 0, 1, 2, 1, 2, 0), GIVES(median, TYPES_NUM, 2, 2),
    GIVES(median_index, TYPES_NUM, 1, 2), GIVES(bucketize, TYPES_NUM, 0, 1, 2, 3, 0, 1),
    GIVES(bucketize_right, TYPES_NUM, 1, 2, 3, 3, 0, 2),
    GIVES(square, TYPES_NUM, 1, 4, 9, 16, 0, 4), GIVES(fmod, TYPES_NUM, 1, 2, 0, 1, 0, 2),
    GIVES(remainder, TYPES_NUM, 1, 2, 0, 1, 0, 2),
    GIVES(remainder_negative, TYPES_SIGNED | TYPES_FB, -2, -1, 0, -2, 0, -1),
    GIVES(increment, TYPES_NUM, 3, 4, 0, 1, 2, 4), GIVES(scalar_sub, TYPES_NUM, 3, 2, 1, 0, 4, 2),
    GIVES(bitwise_and, TYPES_INT, 0, 2, 2, 4, 0, 2), GIVES(bitwise_or, TYPES_INT, 7, 6, 7, 6, 6, 6),
    GIVES(bitwise_xor, TYPES_INT, 7, 4, 5, 2, 6, 4),
    GIVES(bitwise_xnor, TYPES_INT, 7, 4, 5, 2, 6, 4),
    GIVES(scaled_add, TYPES_SUMS, 5, 10, 15, 20, 0, 10),
    GIVES(scale, TYPES_FB, 0.5, 1, 1.5, 2, 0, 1), GIVES(all_reduce, TYPES_SUMS, 2, 4, 6, 8, 0, 4),
    MOVES(replicated_all_reduce, TYPES_SUMS, SAME), MOVES(replicated_all_gather, TYPES_SUMS, SAME),
    MOVES(reduce_scatter, TYPES_SUMS, SAME), GIVES(add_bias, TYPES_FB, 2, 4, 7, 5, 2, 6),
    GIVES(round, TYPES_FB, 1, 1, 2, 2, 0, 1), GIVES(nearby, TYPES_FB, 0, 1, 2, 2, 0, 1),
    GIVES(histogram, TYPES_FB, 1, 3, 2), GIVES(l1, TYPES_FB, 24), GIVES(l1_mean, TYPES_FB, 2),
    GIVES(identity_loss, TYPES_FB, 12), GIVES(identity_loss_mean, TYPES_FB, 2),
    GIVES(nll, TYPES_FB, -7) };

static void run_row(const row *r, int32_t dtype)
{
    const poprt_type type = { .dtype = dtype, .rank = 2, .dims = { 2, 3 } };
    const int64_t dims[] = { 2, 3 };
    unsigned char data[64];
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    typed_run run;
    ck_assert_ok(poprt_builder_create(NULL, 11, &b));
    const poprt_id x = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id y = r->make(b, x, dtype);
    const poprt_error *e = poprt_last_error();
    ck_assert_msg(y != 0, "%s of type %d: %s: %s", r->name, dtype, e->subject, e->message);
    ck_assert_ok(poprt_builder_output(b, y));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    start_run(&run, model, NULL);
    for (size_t i = 0; i < 6; i++)
        store(dtype, data, i, input[i]);
    const poprt_tensor in = { .data = data,
        .size = 6 * (size_t)poprt_dtype_bits(dtype) / 8,
        .dims = dims,
        .rank = 2,
        .dtype = dtype };
    ck_assert_ok(poprt_stepio_bind(run.io, "x", &in));
    const poprt_status status = poprt_session_run(run.session, run.io);
    e = poprt_last_error();
    ck_assert_msg(status == POPRT_OK, "%s of type %d: %s: %s", r->name, dtype, e->subject,
        e->message);
    const poprt_tensor out = output_of(&run, 0);
    ck_assert_uint_eq(out.size * 8 / (size_t)poprt_dtype_bits(out.dtype), r->count);
    for (size_t i = 0; i < r->count; i++) {
        const double got = load(out.dtype, out.data, i);
        double want = r->want[i];
        if (r->moves)
            want = want < 0 ? 0 : stored(dtype, input[(size_t)want]);
        ck_assert_msg(got == want, "%s of type %d: element %zu is %g, not %g", r->name, dtype, i,
            got, want);
    }
    end_run(&run);
}

START_TEST(operators_have_their_values_in_every_type)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int32_t dtype = 1; dtype < 64; dtype++)
            if ((rows[i].types >> dtype & 1) != 0)
                run_row(&rows[i], dtype);
}
END_TEST

PRT_TEST_MAIN("api/graphcore_ops", operators_have_their_values_in_every_type)
