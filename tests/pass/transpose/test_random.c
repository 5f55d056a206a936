/* SPDX-License-Identifier: MIT */
/*
 * test_random.c — optimize_transposes on random graphs: same results, no more transposed elements
 * than before, and nothing to do for a second run.
 * Covers: optimize_transposes.c.
 */
#include <stdarg.h>

#include "pass/transpose/transposes.h"
#include "support/random_graph.h"

enum { RANK = 4, LINES = 24, MOST = 3 * LINES, GRAPHS = 400, SYMBOL = -1 };
/* SYMBOL stands for the symbolic dim of every other graph. */

typedef struct maker {
    uint64_t state;
    char text[1 << 14];
    size_t size;
    uint32_t n, n_constants;
    int dims[MOST][RANK];
} maker;

static uint32_t below(maker *m, uint32_t limit)
{
    return (uint32_t)random_below(&m->state, limit);
}

static void put(maker *m, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    m->size += (size_t)vsnprintf(m->text + m->size, sizeof(m->text) - m->size, fmt, args);
    va_end(args);
    ck_assert(m->size < sizeof(m->text));
}

static int *add(maker *m, const int *dims)
{
    memcpy(m->dims[m->n], dims, sizeof(m->dims[0]));
    return m->dims[m->n++];
}

static bool has_dims(const int *a, const int *b, uint32_t except)
{
    for (uint32_t i = 0; i < RANK; i++)
        if (i != except && a[i] != b[i])
            return false;
    return true;
}

static bool has_symbol(const int *dims)
{
    return dims[0] == SYMBOL || dims[1] == SYMBOL || dims[2] == SYMBOL || dims[3] == SYMBOL;
}

/* Returns a late value with the dims of `x` except one; x itself if there is no other. */
static uint32_t mate(maker *m, uint32_t x, uint32_t except)
{
    for (uint32_t tries = 0; tries < 20; tries++) {
        const uint32_t i = below(m, m->n);
        if (has_dims(m->dims[i], m->dims[x], except))
            return i;
    }
    return x;
}

static void add_transpose(maker *m, uint32_t x)
{
    static const int perms[][RANK] = { { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 2, 3, 1 },
        { 0, 3, 1, 2 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 1, 3, 2 }, { 1, 0, 2, 3 },
        { 3, 2, 1, 0 } };
    const int *p = perms[below(m, PRT_COUNT_OF(perms))];
    const int dims[RANK] = { m->dims[x][p[0]], m->dims[x][p[1]], m->dims[x][p[2]],
        m->dims[x][p[3]] };
    put(m, "v%u = transpose v%u {perm=[%d,%d,%d,%d]}\n", m->n, x, p[0], p[1], p[2], p[3]);
    add(m, dims);
}

static void add_with_constant(maker *m, uint32_t x)
{
    static const char *const ops[] = { "add", "mul", "sub" };
    const uint32_t shift = below(m, RANK), kept = below(m, 16);
    put(m, "c%u = const f32[", m->n_constants);
    for (uint32_t i = shift; i < RANK; i++)
        put(m, "%s%d", i == shift ? "" : ",",
            (kept >> i & 1) != 0 && m->dims[x][i] != SYMBOL ? m->dims[x][i] : 1);
    put(m, "] fill 0.5\nv%u = %s v%u c%u\n", m->n, ops[below(m, 3)], x, m->n_constants++);
    add(m, m->dims[x]);
}

/* Adds an operator that treats one axis differently from the others. */
static void add_along_axis(maker *m, uint32_t x)
{
    const uint32_t axis = below(m, RANK), y = mate(m, x, axis), c = m->n_constants++;
    int dims[RANK], by[RANK] = { 0 };
    memcpy(dims, m->dims[x], sizeof(dims));
    by[axis] = 1;
    /* Lengths that depend on the symbol are not made. */
    const uint32_t kind = 2 + below(m, 10);
    const bool derives = kind < 4 || kind > 8;
    const bool symbolic = dims[axis] == SYMBOL || m->dims[y][axis] == SYMBOL;
    switch (symbolic && derives ? 11 : kind) {
    case 10:
        put(m, "v%u = concat v%u v%u {axis=%u}\n", m->n, x, y, axis);
        dims[axis] += m->dims[y][axis];
        break;
    case 2:
        put(m, "c%u = const i64[1] {-1}\nd%u = const i64[1] {999}\ne%u = const i64[1] {%u}\n", c, c,
            c, axis);
        put(m, "v%u = slice v%u c%u d%u e%u\n", m->n, x, c, c, c);
        dims[axis] = 1;
        break;
    case 3:
        put(m, "c%u = const i64[8] {%d,%d,%d,%d,0,0,0,0}\nv%u = pad v%u c%u\n", c, by[0], by[1],
            by[2], by[3], m->n, x, c);
        dims[axis]++;
        break;
    case 4:
        put(m, "c%u = const i64[1] {%u}\nv%u = reduce_mean v%u c%u\n", c, axis, m->n, x, c);
        dims[axis] = 1;
        break;
    case 5:
        put(m, "c%u = const i64[1] {%u}\nr%u = reduce_sum v%u c%u {keepdims=0}\n", c, axis, m->n, x,
            c);
        put(m, "v%u = unsqueeze r%u c%u\n", m->n, m->n, c);
        dims[axis] = 1;
        break;
    case 6:
        put(m, "c%u = const i64[2] {0,-1}\nv%u = gather v%u c%u {axis=%u}\n", c, m->n, x, c, axis);
        dims[axis] = 2;
        break;
    case 7:
        put(m, "c%u = const i64[] {0}\nr%u = gather v%u c%u {axis=%u}\n", c, m->n, x, c, axis);
        put(m, "d%u = const i64[1] {%u}\nv%u = unsqueeze r%u d%u\n", c, axis, m->n, m->n, c);
        dims[axis] = 1;
        break;
    case 8:
        put(m, "r%u = argmax v%u {axis=%u}\nv%u = cast r%u {to=1}\n", m->n, x, axis, m->n, m->n);
        dims[axis] = 1;
        break;
    case 9:
        put(m, "c%u = const i64[2] {1,%d}\nv%u, r%u = split v%u c%u {axis=%u}\n", c,
            m->dims[x][axis] - 1, m->n, m->n, x, c, axis);
        dims[axis] = 1;
        break;
    default:
        put(m, "v%u = softmax v%u {axis=%u}\n", m->n, x, axis);
    }
    add(m, dims);
}

/* A Reshape that merges or exchanges dims, and a Shape that decides about another one. */
static void add_reshape(maker *m, uint32_t x)
{
    const int *d = m->dims[x];
    const int merged[RANK] = { d[0], d[1] * d[2], 1, d[3] },
              tail[RANK] = { d[0], 1, d[1], d[2] * d[3] };
    const bool symbolic = d[1] == SYMBOL || d[2] == SYMBOL || d[3] == SYMBOL;
    const uint32_t kind = symbolic ? 2 : below(m, 3), y = mate(m, x, RANK);
    const int *to = kind == 0 ? merged : tail;
    if (kind == 2) {
        put(m, "s%u = shape v%u\nv%u = expand v%u s%u\n", m->n, y, m->n, x, m->n);
        add(m, d);
        return;
    }
    put(m, "c%u = const i64[4] {%d,%d,%d,%d}\nv%u = reshape v%u c%u\n", m->n_constants,
        to[0] == SYMBOL ? 0 : to[0], to[1], to[2], to[3], m->n, x, m->n_constants);
    m->n_constants++;
    add(m, to);
}

/* Exchanges groups of elements of the last axis. */
static void add_shuffle(maker *m, uint32_t x)
{
    const int *d = m->dims[x], groups = d[3] % 2 == 0 ? 2 : d[3] % 3 == 0 ? 3 : 1;
    put(m, "g%u = const i64[5] {%d,%d,%d,%d,%d}\nk%u = const i64[4] {%d,%d,%d,%d}\n", m->n, d[0],
        d[1], d[2], groups, d[3] / groups, m->n, d[0], d[1], d[2], d[3]);
    put(m, "h%u = reshape v%u g%u\ni%u = transpose h%u {perm=[0,1,2,4,3]}\n", m->n, x, m->n, m->n,
        m->n);
    put(m, "v%u = reshape i%u k%u\n", m->n, m->n, m->n);
    add(m, d);
}

static void add_branches(maker *m, uint32_t x)
{
    const uint32_t y = mate(m, x, RANK), at = m->n;
    put(m,
        "n%u = reduce_max v%u {keepdims=0}\nb%u = cast n%u {to=9}\nv%u = if b%u {\n"
        "then_branch { p%u = transpose v%u {perm=[0,3,1,2]}\nq%u = neg p%u\n"
        "o%u = transpose q%u {perm=[0,2,3,1]}\nreturn o%u }\nelse_branch { return v%u }\n}\n",
        at, x, at, at, at, at, at, x, at, at, at, at, at, y);
    add(m, m->dims[x]);
}

static void add_line(maker *m)
{
    static const char *const unary[] = { "relu", "neg", "max_pool", "max_pool", "identity" };
    const uint32_t x = below(m, 3) == 0 ? below(m, m->n) : m->n - 1, kind = below(m, 17);
    if (kind < 6) {
        add_transpose(m, x);
    } else if (kind < 9) {
        const char *op = unary[below(m, PRT_COUNT_OF(unary))];
        put(m, "v%u = %s v%u%s\n", m->n, op, x, op[0] == 'm' ? " {kernel_shape=[1,1]}" : "");
        add(m, m->dims[x]);
    } else if (kind < 11) {
        put(m, "v%u = add v%u v%u\n", m->n, x, mate(m, x, RANK));
        add(m, m->dims[x]);
    } else if (kind == 11) {
        add_with_constant(m, x);
    } else if (kind == 12) {
        add_reshape(m, x);
    } else if (kind == 16 && !has_symbol(m->dims[x])) {
        add_shuffle(m, x);
    } else if (kind == 13) {
        add_branches(m, x);
    } else {
        add_along_axis(m, x);
    }
}

static void make(maker *m, uint64_t seed)
{
    const int x[RANK] = { seed % 2 != 0 ? SYMBOL : 2, 3, 4, 5 }, y[RANK] = { 1, 4, 5, 3 };
    memset(m, 0, sizeof(*m));
    m->state = seed;
    put(m, "v0 = input f32[%s,3,4,5]\nv1 = input f32[1,4,5,3]\n", seed % 2 != 0 ? "n" : "2");
    add(m, x);
    add(m, y);
    while (m->n < LINES)
        add_line(m);
    put(m, "return v%u, v%u, v%u, v%u\n", m->n - 1, m->n - 3, below(m, m->n),
        m->n - 1 - below(m, 3));
}

START_TEST(random_graphs_keep_their_results)
{
    static maker m;
    uint64_t total_before = 0, total_after = 0;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        make(&m, seed);
        prt_graph *before = graph_from_text(m.text), *after = graph_from_text(m.text);
        const uint64_t most = transposed_elements(before);
        (void)run_pass(after, PASS, NULL);
        const uint64_t left = transposed_elements(after);
        ck_assert_msg(left <= most, "seed %llu: %llu elements, not %llu:\n%s\n%s",
            (unsigned long long)seed, (unsigned long long)left, (unsigned long long)most,
            graph_text(before), graph_text(after));
        assert_same_results(before, after, 1e-5, seed);
        ck_assert_msg(!run_pass(after, PASS, NULL), "seed %llu: a second run changes\n%s",
            (unsigned long long)seed, graph_text(after));
        total_before += most;
        total_after += left;
        module_free(before);
        module_free(after);
    }
    ck_assert_msg(total_after < total_before / 2, "%llu of %llu elements remain",
        (unsigned long long)total_after, (unsigned long long)total_before);
}
END_TEST

PRT_TEST_MAIN("pass/transpose/random", random_graphs_keep_their_results)
