/* SPDX-License-Identifier: MIT */
/* test_graphcore_networks.c — MultiConv with its plans, and CtcBeamSearchDecoder against the sum
 * over all alignments. */
#include "typed.h"

/* ---- MultiConv */

/* Two convolutions [1, 2, 5, 5] with 3 and 2 filters, as MultiConv of a plan or as two Conv. */
static void run_convs(const char *plan, bool tuned, float *y, float *z)
{
    static const int64_t tiles[] = { 50, 60 };
    float x[50];
    typed_run r;
    poprt_builder *b = new_builder();
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 4, .dims = { 1, 2, 5, 5 } };
    const poprt_id in = poprt_builder_input(b, "x", &type, NULL);
    double w[54], v[16];
    for (int i = 0; i < 54; i++)
        w[i] = (i * 7 % 13) - 6;
    for (int i = 0; i < 16; i++)
        v[i] = (i * 5 % 11) - 5;
    const poprt_id first =
        add_numbers(b, "w", false, POPRT_DTYPE_FLOAT32, w, 54, SHAPE(3, 2, 3, 3));
    const poprt_id second =
        add_numbers(b, "v", false, POPRT_DTYPE_FLOAT32, v, 16, SHAPE(2, 2, 2, 2));
    const poprt_id bias =
        add_numbers(b, NULL, false, POPRT_DTYPE_FLOAT32, NUMBERS(0.5, 1.5, -2), SHAPE(3));
    poprt_id out[2];
    if (plan == NULL) {
        out[0] = poprt_op_conv(b, in, first, bias,
            ATTRS(conv, .pads = POPRT_INTS(1, 1, 1, 1), .strides = POPRT_INTS(2, 2)));
        out[1] = poprt_op_conv(b, in, second, 0, ATTRS(conv, .pads = POPRT_INTS(0, 1, 1, 0)));
    } else {
        poprt_gc_multi_conv_attrs attrs = { .numConvs = poprt_int(2),
            .planType = plan[0] != '\0' ? plan : NULL,
            .pads = POPRT_INTS(1, 1, 1, 1, 0, 1, 1, 0),
            .strides = POPRT_INTS(2, 2, 1, 1) };
        if (tuned) {
            attrs.perConvReservedTiles = (poprt_int_list){ tiles, 2 };
            attrs.cycleBackOff = poprt_float(0.25f);
        }
        (void)poprt_op_gc_multi_conv(b, 6, (const poprt_id[]){ in, first, bias, in, second, 0 },
            &attrs, 2, out);
    }
    ck_assert_ok(poprt_builder_output(b, out[0]));
    start_run(&r, finish(b, out[1]), NULL);
    for (int i = 0; i < 50; i++)
        x[i] = (float)(i % 9) - 4;
    const poprt_tensor t = { .data = x,
        .size = sizeof(x),
        .dims = (const int64_t[]){ 1, 2, 5, 5 },
        .rank = 4,
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_stepio_bind(r.io, "x", &t));
    ck_assert_ok(poprt_session_run(r.session, r.io));
    ck_assert_uint_eq(output_of(&r, 0).size, 27 * sizeof(float));
    ck_assert_uint_eq(output_of(&r, 1).size, 50 * sizeof(float));
    memcpy(y, output_of(&r, 0).data, 27 * sizeof(float));
    memcpy(z, output_of(&r, 1).data, 50 * sizeof(float));
    end_run(&r);
}

START_TEST(plan_types_change_no_result)
{
    const char *const plans[] = { "", "parallel", "serial" };
    float y[27], z[50], other_y[27], other_z[50];
    run_convs(NULL, false, y, z);
    for (int i = 0; i < 6; i++) {
        run_convs(plans[i / 2], i % 2 != 0, other_y, other_z);
        ck_assert_mem_eq(y, other_y, sizeof(y));
        ck_assert_mem_eq(z, other_z, sizeof(z));
    }
    poprt_builder *b = new_builder();
    const poprt_id x = add_floats_input(b, "x", 2, 2);
    ck_assert_uint_eq(poprt_op_gc_multi_conv(b, 2, (const poprt_id[]){ x, x },
                          ATTRS(gc_multi_conv, .planType = "both"), 1, NULL),
        0);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "parallel"));
    poprt_builder_release(b);
}
END_TEST

/* ---- CtcBeamSearchDecoder */

enum { FRAMES = 5, BATCH = 3, CLASSES = 3, PATHS = 4, LABELINGS = 121 };

/* The labels that an alignment gives: repeats merge, blanks vanish. Returns a number that is unique
 * for the labels, and their number in *count. */
static int labels_of(const int *alignment, int length, int blank, int *labels, int *count)
{
    int id = 0;
    *count = 0;
    for (int t = 0; t < length; t++) {
        if (alignment[t] == blank || (t > 0 && alignment[t] == alignment[t - 1]))
            continue;
        labels[(*count)++] = alignment[t];
        id = id * (CLASSES + 1) + alignment[t] + 1;
    }
    return id;
}

typedef struct labeling {
    int id, count, labels[FRAMES];
    double probability;
} labeling;

/* Sums the probabilities of all alignments of each labeling; returns their number. */
static int sum_alignments(const double *logs, int entry, int length, int blank, labeling *out)
{
    int n = 0, total = 1;
    for (int t = 0; t < length; t++)
        total *= CLASSES;
    for (int a = 0; a < total; a++) {
        int alignment[FRAMES], rest = a;
        labeling l = { .probability = 1 };
        for (int t = 0; t < length; t++, rest /= CLASSES) {
            alignment[t] = rest % CLASSES;
            l.probability *= exp(logs[(t * BATCH + entry) * CLASSES + alignment[t]]);
        }
        l.id = labels_of(alignment, length, blank, l.labels, &l.count);
        int k = 0;
        while (k < n && out[k].id != l.id)
            k++;
        if (k == n) {
            out[n] = l;
            out[n++].probability = 0;
        }
        out[k].probability += l.probability;
    }
    return n;
}

static int by_probability(const void *a, const void *b)
{
    const double x = ((const labeling *)a)->probability, y = ((const labeling *)b)->probability;
    return (x < y) - (x > y);
}

/* With as many beams as labelings, beam search is exact. */
START_TEST(beam_search_finds_the_most_probable_labels)
{
    for (int blank = 0; blank < CLASSES; blank++) {
        double logs[FRAMES * BATCH * CLASSES];
        float x[FRAMES * BATCH * CLASSES];
        const int lengths[BATCH] = { FRAMES, 3, 4 };
        typed_run r;
        for (int row = 0; row < FRAMES * BATCH; row++) {
            double sum = 0;
            for (int k = 0; k < CLASSES; k++)
                sum += logs[row * CLASSES + k] = 1 + (row * 37 + k * 91 + blank * 17) % 29;
            for (int k = 0; k < CLASSES; k++) {
                x[row * CLASSES + k] = (float)log(logs[row * CLASSES + k] / sum);
                logs[row * CLASSES + k] = (double)x[row * CLASSES + k];
            }
        }
        poprt_builder *b = new_builder();
        const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32,
            .rank = 3,
            .dims = { FRAMES, BATCH, CLASSES } };
        const poprt_id in = poprt_builder_input(b, "x", &type, NULL);
        const poprt_id n = add_numbers(b, NULL, false, POPRT_DTYPE_UINT32,
            NUMBERS(lengths[0], lengths[1], lengths[2]), SHAPE(BATCH));
        poprt_id out[3];
        (void)poprt_op_gc_ctc_beam_search_decoder(b, in, n,
            ATTRS(gc_ctc_beam_search_decoder, .blank = poprt_int(blank),
                .beam_width = poprt_int(LABELINGS), .top_paths = poprt_int(PATHS)),
            3, out);
        ck_assert_ok(poprt_builder_output(b, out[0]));
        ck_assert_ok(poprt_builder_output(b, out[1]));
        start_run(&r, finish(b, out[2]), NULL);
        const poprt_tensor t = { .data = x,
            .size = sizeof(x),
            .dims = (const int64_t[]){ FRAMES, BATCH, CLASSES },
            .rank = 3,
            .dtype = POPRT_DTYPE_FLOAT32 };
        ck_assert_ok(poprt_stepio_bind(r.io, "x", &t));
        ck_assert_ok(poprt_session_run(r.session, r.io));
        const float *probabilities = output_of(&r, 0).data;
        const uint32_t *counts = output_of(&r, 1).data, *labels = output_of(&r, 2).data;
        for (int entry = 0; entry < BATCH; entry++) {
            labeling all[LABELINGS];
            const int found = sum_alignments(logs, entry, lengths[entry], blank, all);
            qsort(all, (size_t)found, sizeof(all[0]), by_probability);
            for (int p = 0; p < PATHS; p++) {
                const int at = entry * PATHS + p;
                ck_assert_double_eq_tol((double)probabilities[at], log(all[p].probability), 1e-5);
                ck_assert_uint_eq(counts[at], (uint32_t)all[p].count);
                for (int k = 0; k < FRAMES; k++)
                    ck_assert_uint_eq(labels[at * FRAMES + k],
                        (uint32_t)(k < all[p].count ? all[p].labels[k] : blank));
            }
        }
        end_run(&r);
    }
}
END_TEST

PRT_TEST_MAIN("api/graphcore_networks", plan_types_change_no_result,
    beam_search_finds_the_most_probable_labels)
