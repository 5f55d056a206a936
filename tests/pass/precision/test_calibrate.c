/* SPDX-License-Identifier: MIT */
/*
 * test_calibrate.c — losses and choices, compared with straightforward reference sums: every
 * number is encoded and decoded by itself, every measure follows its formula.
 * Covers: feed.c, gptq.c, losses.c, stats.c.
 */
#include "pass/precision/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp.h"
#include "pass/precision/gptq.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

enum { COUNT = 600 };

static prt_arena *arena;

static void need(poprt_status status)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s", prt_error_last()->subject, prt_error_last()->message);
}

static void open_arena(void)
{
    need(prt_arena_create(&prt_mem_libc, 0, &arena));
}

/* Long tails, an outlier or two. */
static void draw(double *x, size_t n, double scale, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double u = (double)(state >> 11) * 0x1p-53 - 0.5;
        x[i] = (double)(float)(scale * (u < 0 ? log(1 + 2 * u) : -log(1 - 2 * u)));
    }
}

static double plain_round(int32_t format, int32_t scale, double x)
{
    const prt_fp8_code code = { format, scale };
    return prt_fp8_decode(code, prt_fp8_encode(code, x));
}

static double fast_round(int32_t format, int32_t scale, double x)
{
    double q;
    prt_fp8_round((prt_fp8_code){ format, scale }, 1, &x, &q);
    return q;
}

/* Bins of |x|. The last bin within the format includes the share of the numbers beyond it. Each
 * share is compared with the mean of the bins that have the same byte. */
static double bins(const double *x, size_t n, prt_fp8_code code)
{
    double h[2048] = { 0 }, p[2048], q[2048], all[256] = { 0 }, full[256] = { 0 };
    double most = 0, of_p = 0, of_q = 0, sum = 0;
    uint8_t bytes[2048];
    int last = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    for (size_t i = 0; i < n; i++)
        h[(int)fmin(2047, floor(fabs(x[i]) / most * 2048))]++;
    const double end = prt_fp8_decode(code, prt_fp8_encode(code, 1e30));
    while (last < 2048 && (last + 0.5) / 2048 * most <= end)
        last++;
    if (last == 0)
        return HUGE_VAL;
    for (int i = 0; i < last; i++) {
        bytes[i] = prt_fp8_encode(code, (i + 0.5) / 2048 * most);
        all[bytes[i]] += h[i];
        full[bytes[i]] += h[i] > 0;
    }
    for (int i = 0; i < last; i++) {
        p[i] = h[i] + 1e-3;
        q[i] = (h[i] > 0 ? all[bytes[i]] / full[bytes[i]] : 0) + 1e-3;
    }
    for (int i = last; i < 2048; i++)
        p[last - 1] += h[i];
    for (int i = 0; i < last; i++) {
        of_p += p[i];
        of_q += q[i];
    }
    for (int i = 0; i < last; i++)
        sum += p[i] / of_p * log(p[i] / of_p / (q[i] / of_q));
    return fmax(sum, 0);
}

static double plain_loss(prt_loss loss, const double *x, const double *q, size_t n,
    prt_fp8_code code)
{
    double squares = 0, sizes = 0, xx = 0, qq = 0, xq = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (x[i] - q[i]) * (x[i] - q[i]);
        sizes += fabs(x[i] - q[i]);
        xx += x[i] * x[i];
        qq += q[i] * q[i];
        xq += x[i] * q[i];
    }
    switch (loss) {
    case PRT_LOSS_mae:
        return sizes / (double)n;
    case PRT_LOSS_snr:
        return squares / xx;
    case PRT_LOSS_kld:
        return bins(x, n, code);
    case PRT_LOSS_cos_dist:
        return squares == 0 ? 0 : qq == 0 ? 1 : 1 - xq / sqrt(xx) / sqrt(qq);
    default:
        return squares / (double)n;
    }
}

START_TEST(rounding_is_that_of_the_bytes)
{
    static const int32_t formats[] = { PRT_DTYPE_f8e4m3fnuz, PRT_DTYPE_f8e5m2fnuz };
    double x[4000];
    size_t bad = 0;
    draw(x, 4000, 1, 7);
    for (int f = 0; f < 2; f++)
        for (int scale = -32; scale <= 31; scale++)
            for (int i = 0; i < 4000; i++) {
                const double v = ldexp(x[i], i % 40 - 20 + scale);
                bad += fast_round(formats[f], scale, v) != plain_round(formats[f], scale, v);
            }
    /* halves of the last bit, the ends of the range, zero */
    static const double edges[] = { 0, -0.0, 0.00048828125, 0.00146484375, 232, 248, 239, 240, 241,
        1e30, -1e30, 1.0625, 1.1875, 57344, 53248, 61440, 1e-300 };
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
        for (int f = 0; f < 2; f++)
            bad += fast_round(formats[f], 0, edges[i]) != plain_round(formats[f], 0, edges[i]);
    ck_assert_uint_eq(bad, 0);
}
END_TEST

static prt_tensor floats(const double *x, size_t n, float *to)
{
    const int64_t dim = (int64_t)n;
    prt_tensor t;
    for (size_t i = 0; i < n; i++)
        to[i] = (float)x[i];
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, 1, &dim, to));
    return t;
}

static const prt_fp8_code usual = { PRT_DTYPE_f8e4m3fnuz, -1 };

/* A search over numbers that come in two parts. */
static prt_search *searched(prt_loss loss, const double *x, size_t n)
{
    float data[COUNT];
    prt_search *s = prt_search_create(arena, loss, usual);
    ck_assert_ptr_nonnull(s);
    const prt_tensor whole = floats(x, n, data);
    if (prt_search_needs_range(s))
        prt_search_range(s, &whole);
    const prt_tensor left = floats(x, n / 3, data);
    prt_search_add(s, &left);
    const prt_tensor right = floats(x + n / 3, n - n / 3, data);
    prt_search_add(s, &right);
    return s;
}

/* Losses by their formulas; the choice by its rules: no worse than the usual pair by mean square,
 * the least loss, and the usual pair where that is within a tenth. */
static void check_choice(prt_loss loss, const double *x, size_t n)
{
    double q[COUNT], losses[PRT_TRIED], squares[PRT_TRIED], least = HUGE_VAL;
    const prt_search *s = searched(loss, x, n);
    for (uint32_t k = 0; k < PRT_TRIED; k++) {
        const prt_fp8_code code = prt_search_code(s, k);
        for (size_t i = 0; i < n; i++)
            q[i] = plain_round(code.format, code.scale, x[i]);
        losses[k] = plain_loss(loss, x, q, n, code);
        squares[k] = plain_loss(PRT_LOSS_mse, x, q, n, code);
        const double mine = prt_search_loss(s, k);
        ck_assert_msg(mine == losses[k] || fabs(mine - losses[k]) <= 1e-9 * (1 + fabs(losses[k])),
            "%s: %g, not %g", prt_loss_name(loss), mine, losses[k]);
    }
    for (uint32_t k = 0; k < PRT_CANDIDATES; k++)
        if (squares[k] <= squares[PRT_USUAL])
            least = fmin(least, losses[k]);
    const uint32_t best = prt_search_best(s);
    ck_assert_double_le(squares[best], squares[PRT_USUAL]);
    if (losses[PRT_USUAL] <= 1.1 * least)
        ck_assert_uint_eq(best, PRT_USUAL);
    else
        ck_assert_double_le(losses[best], least + 2e-6);
}

START_TEST(each_loss_takes_its_best)
{
    static const double scales[] = { 1, 1e-3, 40, 3e4 };
    double x[COUNT];
    open_arena();
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t loss = 0; loss < PRT_LOSS_COUNT; loss++) {
            draw(x, COUNT, scales[i], 11 + i);
            check_choice((prt_loss)loss, x, COUNT);
        }
    prt_arena_release(arena);
}
END_TEST

/* Few large numbers stretch the bins, of which fp8 fills no more than its bytes: the mass of a byte
 * is spread over them, and kld does not take a scale that clips. */
START_TEST(kld_sees_past_bins_that_bytes_cannot_fill)
{
    double x[COUNT];
    open_arena();
    draw(x, COUNT, 30, 5);
    x[0] = 300;
    const prt_search *kld = searched(PRT_LOSS_kld, x, COUNT),
                     *mse = searched(PRT_LOSS_mse, x, COUNT);
    const double a = prt_distance_mse(&mse->distance[prt_search_best(kld)]);
    const double b = prt_distance_mse(&mse->distance[prt_search_best(mse)]);
    ck_assert_double_le(a, 1.2 * b);
    prt_arena_release(arena);
}
END_TEST

START_TEST(equal_losses_keep_the_default)
{
    static const double zeros[9] = { 0 }, ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    open_arena();
    for (uint32_t loss = 0; loss < PRT_LOSS_COUNT; loss++)
        for (int k = 0; k < 2; k++) {
            const prt_search *s = searched((prt_loss)loss, k == 0 ? zeros : ones, 9);
            ck_assert_uint_eq(prt_search_best(s), PRT_USUAL);
            ck_assert_double_eq(prt_search_loss(s, 0), 0);
        }
    ck_assert_int_eq(prt_fp8_candidate(0).scale, 0);
    ck_assert_int_eq(prt_fp8_candidate(1).scale, -1);
    ck_assert_int_eq(prt_fp8_candidate(2).scale, 1);
    ck_assert_int_eq(prt_fp8_candidate(41).scale, 10);
    ck_assert_int_eq(prt_fp8_candidate(41).format, PRT_DTYPE_f8e5m2fnuz);
    prt_arena_release(arena);
}
END_TEST

START_TEST(moments_match_hand_computation)
{
    static const double x[] = { 1, 2, 4, 9 };
    prt_moments m = { 0 };
    for (int i = 0; i < 4; i++)
        prt_moments_add(&m, x[i]);
    prt_moments_add(&m, (double)NAN);
    ck_assert_double_eq(prt_moments_mean(&m), 4);
    ck_assert_double_eq_tol(prt_moments_variance(&m), 9.5, 1e-12);
    /* deviations -3, -2, 0, 5: thirds sum to 90, fourths to 722 */
    ck_assert_double_eq_tol(prt_moments_skewness(&m), 22.5 / pow(9.5, 1.5), 1e-12);
    ck_assert_double_eq_tol(prt_moments_kurtosis(&m), 180.5 / (9.5 * 9.5) - 3, 1e-12);
    ck_assert_double_eq(m.least, 1);
    ck_assert_double_eq(m.most, 9);
}
END_TEST

/* ---- gptq */

enum { K = 4, N = 3, ROWS = 12 };

static void invert(double a[K][K], int from, double out[K][K])
{
    double m[K][2 * K] = { { 0 } };
    for (int i = from; i < K; i++)
        for (int j = from; j < K; j++) {
            m[i][j] = a[i][j];
            m[i][K + j] = i == j;
        }
    for (int p = from; p < K; p++) {
        const double pivot = m[p][p];
        for (int j = 0; j < 2 * K; j++)
            m[p][j] /= pivot;
        for (int i = from; i < K; i++) {
            const double f = m[i][p];
            for (int j = 0; i != p && j < 2 * K; j++)
                m[i][j] -= f * m[p][j];
        }
    }
    for (int i = from; i < K; i++)
        for (int j = from; j < K; j++)
            out[i][j] = m[i][K + j];
}

/* Rounds weight after weight, and recomputes the inverse for the remaining weights. */
static void plain_gptq(double h[K][K], double w[K], prt_fp8_code code, double q[K])
{
    double inverse[K][K];
    for (int j = 0; j < K; j++) {
        invert(h, j, inverse);
        q[j] = plain_round(code.format, code.scale, w[j]);
        const double e = (w[j] - q[j]) / inverse[j][j];
        for (int l = j; l < K; l++)
            w[l] -= e * inverse[l][j];
    }
}

START_TEST(gptq_makes_up_for_errors)
{
    double x[ROWS * K], w[K * N], q[K * N], nearest[K * N], h[K][K] = { { 0 } }, trace = 0;
    float data[ROWS * K];
    const prt_fp8_code code = { PRT_DTYPE_f8e5m2fnuz, 14 }; /* steps of 1/8 */
    const int64_t dims[2] = { ROWS, K };
    prt_tensor t;
    prt_gptq *g;
    prt_graph *graph = graph_from_text(
        "x = input f32[12,4]\nw = const f32[4,3] {0.37, -0.81, 0.29, 0.111, 0.93, -0.47, -0.653, "
        "0.077, 0.519, 0.283, -0.331, 0.71}\ny = matmul x w\nreturn y\n");
    open_arena();
    draw(x, ROWS * K, 1, 3);
    for (int r = 0; r < ROWS; r++)
        x[r * K + 1] = 0.9 * x[r * K] + 0.1 * x[r * K + 1]; /* inputs that go together */
    for (int i = 0; i < ROWS * K; i++)
        data[i] = (float)x[i];
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, 2, dims, data));
    need(prt_gptq_create(arena, graph->first, 1, &g));
    ck_assert_ptr_nonnull(g);
    prt_gptq_add(g, &t);
    ck_assert(prt_gptq_round(g, code, q));
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            for (int r = 0; r < ROWS; r++)
                h[i][j] += (double)data[r * K + i] * (double)data[r * K + j];
    for (int i = 0; i < K; i++)
        trace += h[i][i];
    for (int i = 0; i < K; i++)
        h[i][i] += 0.01 * trace / K;
    for (int f = 0; f < N; f++) {
        double column[K], want[K];
        for (int k = 0; k < K; k++) {
            column[k] = w[k * N + f] =
                prt_load_f64(PRT_DTYPE_f32, g->weight.data, (size_t)(k * N + f));
            nearest[k * N + f] = plain_round(code.format, code.scale, column[k]);
        }
        plain_gptq(h, column, code, want);
        for (int k = 0; k < K; k++)
            ck_assert_double_eq(q[k * N + f], want[k]);
    }
    ck_assert_double_lt(prt_gptq_error(g, q), prt_gptq_error(g, nearest));
    ck_assert_double_eq(prt_gptq_error(g, w), 0);
    module_free(graph);
    prt_arena_release(arena);
}
END_TEST

/* A convolution is the product of its windows; a transposed Gemm that of its rows. */
START_TEST(gptq_knows_layers)
{
    static const char *const texts[] = {
        "x = input f32[2,2]\nw = const f32[1,2] {0.3, -0.7}\ny = gemm x w {transB=1}\nreturn y\n",
        "x = input f32[1,1,3]\nw = const f32[1,1,2] {0.3, -0.7}\ny = conv x w\nreturn y\n",
        "x = input f32[2,2]\nw = const f32[2,1] {0.3, -0.7}\ny = gemm x w {transA=1}\nreturn y\n"
    };
    static float data[3][4] = { { 1, 2, 2, 3 }, { 1, 2, 3, 0 }, { 1, 2, 2, 3 } };
    static const int64_t dims[3][3] = { { 2, 2, 0 }, { 1, 1, 3 }, { 2, 2, 0 } };
    static const double off[2] = { 1.3, -0.7 };
    open_arena();
    for (int i = 0; i < 3; i++) {
        prt_graph *graph = graph_from_text(texts[i]);
        prt_tensor t;
        prt_gptq *g;
        ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, i == 1 ? 3 : 2, dims[i], data[i]));
        need(prt_gptq_create(arena, graph->first, 1, &g));
        prt_gptq_add(g, &t);
        /* rows (1, 2) and (2, 3): a first weight one off changes the sums by 1 and 2 */
        ck_assert_double_eq_tol(prt_gptq_error(g, off), 5, 1e-6);
        module_free(graph);
    }
    prt_arena_release(arena);
}
END_TEST

/* ---- models */

static prt_feed_array digits_images(uint32_t count)
{
    prt_feed_array a = { .name = PRT_STR("image") };
    read_digits(arena, "images", &a.tensor);
    a.tensor.dims[0] = count;
    a.tensor.size = count * 64 * sizeof(float);
    return a;
}

static prt_calibration calibrate(prt_graph *g, const prt_calibrate *how)
{
    prt_calibration c;
    need(prt_calibrate_run(g->module, how, arena, &c));
    return c;
}

static void convert(prt_graph *g, const prt_calibration *c, bool weights_only)
{
    const prt_pass_arg args[] = { { "fp8_input_dict", c->inputs.data },
        { "fp8_weight_dict", c->weights.data }, { "skip_op_names", c->skip.data },
        { "convert_model", weights_only ? "fp8_weight" : "fp8" } };
    run_pass_with(g, "float_to_fp8", 4, args);
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

START_TEST(digits_are_still_read)
{
    open_arena();
    const prt_feed_array images = digits_images(32);
    for (uint32_t loss = 0; loss < PRT_LOSS_COUNT; loss++) {
        const bool weights_only = loss == PRT_LOSS_gptq;
        const prt_calibrate how = { .loss = (prt_loss)loss,
            .weights_only = weights_only,
            .input = usual,
            .weight = usual,
            .feed = { .n_arrays = 1, .arrays = &images } };
        prt_graph *before = trained_model("digits"), *after = trained_model("digits");
        const prt_calibration c = calibrate(after, &how);
        ck_assert_uint_eq(count_of(c.weights.data, "\"F1"), 5);
        ck_assert_uint_eq(count_of(c.inputs.data, "\"F1"), weights_only ? 0 : 5);
        ck_assert_uint_eq(count_of(c.log.data, prt_loss_name((prt_loss)loss)),
            43 * (weights_only ? 5 : 10));
        convert(after, &c, weights_only);
        ck_assert_uint_eq(count_of(graph_text(after), "= gc_fp8_"), 5);
        const model_distance d = distance_of("digits", before, after);
        ck_assert_msg(d.cosine < 0.02, "%s: %g", prt_loss_name((prt_loss)loss), d.cosine);
        const uint32_t read = digits_read(after);
        ck_assert_msg(read + 3 >= 358, "%s: %u", prt_loss_name((prt_loss)loss), read);
        module_free(before);
        module_free(after);
    }
    prt_arena_release(arena);
}
END_TEST

START_TEST(the_worst_layers_stay_half)
{
    open_arena();
    const prt_feed_array images = digits_images(9);
    prt_graph *g = trained_model("digits");
    prt_calibrate how = { .loss = PRT_LOSS_snr,
        .input = usual,
        .weight = usual,
        .feed = { .n_arrays = 1, .arrays = &images } };
    const prt_calibration all = calibrate(g, &how);
    ck_assert_str_eq(all.skip.data, "");
    how.keep = 2;
    const prt_calibration first = calibrate(g, &how);
    ck_assert_uint_eq(count_of(first.weights.data, "\"F1"), 3);
    ck_assert_uint_eq(count_of(first.log.data, "stays float16"), 2);
    how.skip = first.skip.data;
    how.keep = 0;
    const prt_calibration rest = calibrate(g, &how);
    ck_assert_str_eq(rest.weights.data, first.weights.data);
    ck_assert_str_eq(rest.inputs.data, first.inputs.data);
    convert(g, &first, false);
    ck_assert_uint_eq(count_of(graph_text(g), "= gc_fp8_"), 3);
    module_free(g);
    prt_arena_release(arena);
}
END_TEST

static poprt_status run_and_count(void *user, const prt_module *module, size_t batch, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *memory)
{
    (void)batch;
    ++*(uint32_t *)user;
    return prt_ir_run(module->main, n_in, in, n_out, out, memory);
}

START_TEST(a_given_runner_runs_the_batches)
{
    static const char *const text =
        "x = input f32[2,3]\nw = const f32[3,2] {1,2,3,4,5,6}\ny = matmul x w\nreturn y\n";
    float data[14 * 3];
    const int64_t dims[2] = { 14, 3 };
    uint32_t runs = 0;
    prt_feed_array a = { .name = PRT_STR("x") };
    prt_calibrate how = { .loss = PRT_LOSS_kld,
        .input = usual,
        .weight = usual,
        .feed = { .n_arrays = 1, .arrays = &a, .run = run_and_count, .user = &runs } };
    open_arena();
    for (int i = 0; i < 42; i++)
        data[i] = (float)(i - 20) / 7;
    ck_assert(prt_tensor_init(&a.tensor, PRT_DTYPE_f32, 2, dims, data));
    prt_graph *g = graph_from_text(text);
    (void)calibrate(g, &how);
    ck_assert_uint_eq(runs, 14); /* seven batches of two, twice for kld */
    how.feed.n_arrays = 0;
    (void)calibrate(g, &how);
    ck_assert_uint_eq(runs, 16);
    how.weights_only = true;
    (void)calibrate(g, &how);
    ck_assert_uint_eq(runs, 16);
    module_free(g);
    prt_arena_release(arena);
}
END_TEST

static void check_refused(const prt_calibrate *how, poprt_status status, const char *part)
{
    prt_graph *g = graph_from_text(
        "x = input f32[2,3]\nw = const f32[3,2] {1,2,3,4,5,6}\ny = matmul x w\nreturn y\n");
    prt_calibration c;
    ck_assert_int_eq(prt_calibrate_run(g->module, how, arena, &c), status);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    module_free(g);
}

START_TEST(unsuitable_data_and_options_are_refused)
{
    float data[12] = { 0 };
    int64_t dims[2] = { 4, 3 };
    prt_feed_array a = { .name = PRT_STR("x") };
    prt_calibrate how = { .loss = PRT_LOSS_gptq, .feed = { .n_arrays = 1, .arrays = &a } };
    prt_loss loss;
    open_arena();
    ck_assert(prt_tensor_init(&a.tensor, PRT_DTYPE_f32, 2, dims, data));
    check_refused(&how, POPRT_E_ARG, "fp8_weight");
    how.loss = PRT_LOSS_mse;
    a.name = PRT_STR("z");
    check_refused(&how, POPRT_E_NOT_FOUND, "'x'");
    a.name = PRT_STR("x");
    dims[1] = 2;
    ck_assert(prt_tensor_init(&a.tensor, PRT_DTYPE_f32, 2, dims, data));
    check_refused(&how, POPRT_E_SHAPE, "shape");
    dims[0] = 1;
    dims[1] = 3;
    ck_assert(prt_tensor_init(&a.tensor, PRT_DTYPE_f32, 2, dims, data));
    check_refused(&how, POPRT_E_SHAPE, "1 samples");
    ck_assert(prt_loss_find("cos_dist", &loss) && loss == PRT_LOSS_cos_dist);
    ck_assert(!prt_loss_find("max", &loss));
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("pass/precision/calibrate", rounding_is_that_of_the_bytes, each_loss_takes_its_best,
    kld_sees_past_bins_that_bytes_cannot_fill, equal_losses_keep_the_default,
    moments_match_hand_computation, gptq_makes_up_for_errors, gptq_knows_layers,
    digits_are_still_read, the_worst_layers_stay_half, a_given_runner_runs_the_batches,
    unsuitable_data_and_options_are_refused)
