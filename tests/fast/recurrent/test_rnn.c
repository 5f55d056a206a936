/* SPDX-License-Identifier: MIT */
/* test_rnn.c — fast recurrent operators against the reference kernels: Y, Y_h and Y_c in one
 * row. Bounds are in units of the largest element.
 * Covers: recurrent.c, recurrent_data.c, quantized_lstm.c, rnn_core.c, q_lstm.c. */
#include <stdio.h>

#include "runtime/session.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/program_text.h"

static const char *const operators[] = { "rnn", "gru", "lstm" };
static const int gates[] = { 1, 3, 4 };

static int packed_width(int rows)
{
    return (rows + 15) / 16 * 16;
}

/* Writes W and R in the layout of ONNX, or as vectors of panels. */
static void write_weights(char *text, size_t size, size_t op, int dirs, int input, int hidden,
    bool packed)
{
    const int rows = gates[op] * hidden, separate = op == 1 ? hidden : 0;
    if (packed)
        (void)snprintf(text, size, "w = input f32[%d]\nr = input f32[%d]\n",
            dirs * input * packed_width(rows),
            dirs * hidden * (packed_width(rows - separate) + packed_width(separate)));
    else
        (void)snprintf(text, size, "w = input f32[%d,%d,%d]\nr = input f32[%d,%d,%d]\n", dirs, rows,
            input, dirs, rows, hidden);
}

static void check_weights(size_t op, const int *size, int dirs, int layout, const char *lengths,
    const char *attrs, bool packed)
{
    const int seq = size[0], batch = size[1], input = size[2], hidden = size[3];
    const int rows = gates[op] * hidden;
    const bool lstm = op == 2;
    char text[2048], w[128], sizes[64] = "";
    write_weights(w, sizeof(w), op, dirs, input, hidden, packed);
    if (packed)
        (void)snprintf(sizes, sizeof(sizes), "hidden_size=%d,input_size=%d,", hidden, input);
    (void)snprintf(text, sizeof(text),
        "x = input f32[%d,%d,%d]\n%sb = input f32[%d,%d]\nh0 = input f32[%d,%d,%d]\n%s"
        "zero = const i64[1] {0}\nthree = const i64[1] {%d}\none = const i64[1] {1}\n%s"
        "y, h%s = %s%s x w r b %s h0%s {%slayout=%d,direction=%s,%s}\n"
        "flat = const i64[1] {-1}\ny1 = reshape y flat\nh1 = reshape h flat\n%s"
        "all = concat y1 h1%s {axis=0}\nreturn all\n",
        layout != 0 ? batch : seq, layout != 0 ? seq : batch, input, w, dirs, 2 * rows,
        layout != 0 ? batch : dirs, layout != 0 ? dirs : batch, hidden, lengths, 3 * hidden,
        lstm ? "c0 = neg h0\np = slice b zero three one\n" : "", lstm ? ", c" : "",
        packed ? "packed_" : "", operators[op], lengths[0] != '\0' ? "l" : "_", lstm ? " c0 p" : "",
        sizes, layout,
        dirs == 2             ? "bidirectional"
            : attrs[0] == 'r' ? "reverse"
                              : "forward",
        attrs + 1, lstm ? "c1 = reshape c flat\n" : "", lstm ? " c1" : "");
    fast_check(text, -0.25, 0.25, 1e-5); /* larger weights let small errors grow with time */
}

/* `lengths` is the line of constant `l`, or "". The first letter of `attrs` is f for forward or
 * r for reverse. */
static void check(size_t op, const int *size, int dirs, int layout, const char *lengths,
    const char *attrs)
{
    check_weights(op, size, dirs, layout, lengths, attrs, false);
    check_weights(op, size, dirs, layout, lengths, attrs, true);
}

START_TEST(all_sizes_equal_the_reference)
{
    static const int all[][4] = { { 1, 1, 1, 1 }, { 1, 1, 24, 33 }, { 2, 3, 5, 16 },
        { 7, 1, 3, 17 }, { 5, 2, 70, 21 }, { 100, 1, 8, 40 }, { 3, 19, 7, 23 }, { 30, 17, 2, 5 },
        { 2, 250, 2, 3 }, { 9, 4, 3, 70 } };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (size_t i = 0; i < PRT_COUNT_OF(all); i++)
            for (int layout = 0; layout < 2; layout++) {
                check(op, all[i], 2, layout, "", "fclip=0");
                check(op, all[i], 1, layout, "", i % 2 == 0 ? "rclip=0" : "fclip=0.25");
            }
}
END_TEST

START_TEST(sequence_lengths_are_respected)
{
    static const int size[4] = { 6, 4, 3, 18 }, long_one[4] = { 500, 2, 2, 3 };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (int layout = 0; layout < 2; layout++) {
            check(op, size, 2, layout, "l = const i32[4] {3,6,0,1}\n", "fclip=0");
            check(op, size, 1, layout, "l = const i32[4] {6,1,2,5}\n", "rclip=0");
            check(op, long_one, 2, layout, "l = const i32[2] {499,130}\n", "fclip=0");
        }
}
END_TEST

START_TEST(activations_and_attributes_are_respected)
{
    static const int size[4] = { 6, 3, 5, 18 };
    check(0, size, 2, 0, "", "factivations=[Relu,Sigmoid]");
    check(0, size, 1, 0, "", "factivations=[LeakyRelu],activation_alpha=[0.25]");
    check(0, size, 1, 0, "", "factivations=[Softsign]");
    check(1, size, 2, 0, "", "flinear_before_reset=1");
    check(1, size, 1, 1, "", "rlinear_before_reset=1,clip=0.25");
    check(1, size, 1, 0, "", "factivations=[HardSigmoid,Relu],activation_alpha=[0.3]");
    check(2, size, 2, 0, "", "finput_forget=1,clip=0.25");
    check(2, size, 2, 1, "",
        "factivations=[Sigmoid,Relu,Tanh,HardSigmoid,Tanh,Relu],"
        "activation_alpha=[0.3],activation_beta=[0.4]");
    check(2, size, 1, 0, "", "factivations=[Sigmoid,Tanh,Elu]");
}
END_TEST

/* Without biases, states and peepholes; each output by itself. */
static const char *const wanted[] = { "y = ", "_, y = ", "_, _, y = " };

static size_t output_count(size_t op)
{
    return op == 2 ? 3 : 2;
}

START_TEST(outputs_are_optional)
{
    static const int all[][4] = { { 4, 2, 3, 19 }, { 0, 2, 3, 4 }, { 2, 0, 3, 4 }, { 2, 3, 0, 4 },
        { 2, 3, 4, 0 } };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (size_t i = 0; i < 2 * PRT_COUNT_OF(all) * output_count(op); i++) {
            const int *size = all[i / 2 / output_count(op)];
            const bool packed = i / output_count(op) % 2 != 0;
            char text[512], w[128], attrs[64] = "";
            if (packed && (size[2] == 0 || size[3] == 0))
                continue;
            if (packed)
                (void)snprintf(attrs, sizeof(attrs), "{hidden_size=%d,input_size=%d}", size[3],
                    size[2]);
            write_weights(w, sizeof(w), op, 1, size[2], size[3], packed);
            (void)snprintf(text, sizeof(text),
                "x = input f32[%d,%d,%d]\n%s%s%s%s x w r %s\n"
                "return y\n",
                size[0], size[1], size[2], w, wanted[i % output_count(op)], packed ? "packed_" : "",
                operators[op], attrs);
            fast_check(text, -1, 1, 1e-5);
        }
}
END_TEST

/* Sizes for which panels are read forwards and backwards, and larger than a cache. */
START_TEST(panels_read_in_both_directions_are_equal)
{
    static const int all[][4] = { { 9, 1, 4, 100 }, { 8, 2, 130, 65 }, { 3, 1, 2, 390 } };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (size_t i = 0; i < PRT_COUNT_OF(all); i++)
            check(op, all[i], 2, 0, "", "fclip=0");
    /* One entry, one direction, so large that threads share the products. */
    static const int large[] = { 2, 1, 3, 520 };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++) {
        check(op, large, 1, 0, "", "rclip=0");
        check(op, large, 1, 1, "", op == 1 ? "flinear_before_reset=1" : "fclip=0.25");
    }
}
END_TEST

/* Whole panels and many steps of one entry: gates of later steps are computed during the
 * products with R. Few and many inputs per state, one step more than too few, several stretches. */
START_TEST(gemv_overlap_equals_the_reference)
{
    static const int all[][4] = { { 100, 1, 8, 64 }, { 25, 1, 3, 64 }, { 47, 1, 130, 64 },
        { 500, 1, 70, 64 }, { 61, 1, 300, 64 }, { 61, 1, 1, 64 } };
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (size_t i = 0; i < PRT_COUNT_OF(all); i++) {
            check(op, all[i], 2, (int)(i % 2), "", op == 1 ? "flinear_before_reset=1" : "fclip=0");
            check(op, all[i], 1, 0, "", i % 2 == 0 ? "rclip=0" : "fclip=0.25");
            check(op, all[i], 1, 0, "l = const i32[1] {20}\n", "fclip=0");
        }
}
END_TEST

START_TEST(special_values_stay_in_their_batch_entry)
{
    for (size_t op = 0; op < PRT_COUNT_OF(operators); op++)
        for (size_t i = 0; i < 2 * output_count(op); i++) {
            char text[512];
            (void)snprintf(text, sizeof(text),
                "x = const f32[2,4,1] {nan,inf,-inf,1,0,0,0,0}\nw = input f32[1,%d,1]\n"
                "r = input f32[1,%d,19]\nb = input f32[1,%d]\n%s%s x w r b {%s}\nreturn y\n",
                gates[op] * 19, gates[op] * 19, gates[op] * 38, wanted[i / 2], operators[op],
                i % 2 == 0 ? "clip=2" : "direction=reverse");
            fast_check(text, -1, 1, 1e-5);
        }
}
END_TEST

START_TEST(lengths_are_checked)
{
    static const struct {
        const char *length;
        poprt_status status;
    } all[] = { { "0", POPRT_OK }, { "2", POPRT_OK }, { "3", POPRT_E_SHAPE },
        { "-1", POPRT_E_SHAPE } };
    for (size_t i = 0; i < PRT_COUNT_OF(all); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "x = const f32[2,1,1] {1,2}\nw = const f32[1,1,1] {1}\nr = const f32[1,1,1] {3}\n"
            "l = const i32[1] {%s}\ny = rnn x w r _ l\nreturn y\n",
            all[i].length);
        const prt_session_options options = { .kern = prt_kern_of(0) };
        prt_program *p = program_from_text(text);
        prt_session *session = NULL;
        prt_tensor y = { 0 };
        ck_assert_int_eq(prt_session_create(p, &options, &session), POPRT_OK);
        ck_assert_int_eq(prt_session_run(session, NULL, &y), all[i].status);
        prt_session_release(session);
        prt_program_release(p);
    }
}
END_TEST

/* DynamicQuantizeLSTM. A state that is rounded to another byte at one level than at another
 * would differ by a unit of 8 bits; these cases have no such state. */
static void check_quantized(const int *size, int dirs, const char *type, bool by_gate,
    const char *lengths, const char *attrs)
{
    const int seq = size[0], batch = size[1], input = size[2], hidden = size[3];
    char text[2048], count[32];
    (void)snprintf(count, sizeof(count), by_gate ? "%d,%d" : "%d", dirs, 4 * hidden);
    (void)snprintf(text, sizeof(text),
        "x = input f32[%d,%d,%d]\nq = const f32[] {0.002}\nz = const %s[] {%s}\n"
        "wf = input f32[%d,%d,%d]\nw = quantize_linear wf q z\nrf = input f32[%d,%d,%d]\n"
        "r = quantize_linear rf q z\nb = input f32[%d,%d]\nh0 = input f32[%d,%d,%d]\n"
        "c0 = neg h0\np = input f32[%d,%d]\n%ss = const f32[%s] fill 0.002\n"
        "k = const %s[%s] fill %s\ny, h, c = ms_dynamic_quantize_lstm x w r b %s h0 c0 p s k s k "
        "{hidden_size=%d,direction=%s,%s}\n"
        "flat = const i64[1] {-1}\ny1 = reshape y flat\nh1 = reshape h flat\nc1 = reshape c flat\n"
        "all = concat y1 h1 c1 {axis=0}\nreturn all\n",
        seq, batch, input, type, type[0] == 'u' ? "130" : "0", dirs, input, 4 * hidden, dirs,
        hidden, 4 * hidden, dirs, 8 * hidden, dirs, batch, hidden, dirs, 3 * hidden, lengths, count,
        type, count, type[0] == 'u' ? "130" : "0", lengths[0] != '\0' ? "l" : "_", hidden,
        dirs == 2             ? "bidirectional"
            : attrs[0] == 'r' ? "reverse"
                              : "forward",
        attrs + 1);
    fast_check(text, -0.25, 0.25, 1e-5);
}

START_TEST(quantized_lstm_equals_the_reference)
{
    static const int all[][4] = { { 1, 1, 1, 1 }, { 1, 1, 24, 33 }, { 2, 3, 5, 16 },
        { 7, 1, 3, 17 }, { 5, 2, 70, 21 }, { 30, 1, 8, 40 }, { 3, 19, 7, 23 }, { 2, 250, 2, 3 },
        { 9, 4, 3, 70 } };
    static const int size[4] = { 6, 4, 3, 18 };
    for (size_t i = 0; i < PRT_COUNT_OF(all); i++) {
        check_quantized(all[i], 2, "i8", false, "", "fclip=0");
        check_quantized(all[i], 1, "u8", i % 2 == 0, "", i % 2 == 0 ? "rclip=0" : "fclip=0.25");
    }
    check_quantized(size, 2, "u8", true, "l = const i32[4] {3,6,0,1}\n", "finput_forget=1");
    check_quantized(size, 1, "i8", true, "l = const i32[4] {2,1,2,1}\n", "rclip=0");
    check_quantized(size, 1, "i8", true, "l = const i32[4] {0,0,0,0}\n", "rclip=0");
}
END_TEST
PRT_TEST_MAIN("fast/rnn", all_sizes_equal_the_reference, sequence_lengths_are_respected,
    activations_and_attributes_are_respected, outputs_are_optional,
    panels_read_in_both_directions_are_equal, gemv_overlap_equals_the_reference,
    special_values_stay_in_their_batch_entry, lengths_are_checked,
    quantized_lstm_equals_the_reference)
