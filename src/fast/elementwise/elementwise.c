/* SPDX-License-Identifier: MIT */
/*
 * elementwise.c — the fused operator Elementwise: each tile of the result runs through the whole
 * program of instructions. Intermediate results are tiles in scratch that stay in L1.
 *
 * A tile is a piece of a row where the broadcast pattern of all inputs is constant for long runs.
 * Otherwise, if that is faster, it is any piece of the result, and smaller inputs are broadcast
 * into tiles first; once for all tiles if their contents repeat with every tile.
 */
#include "fast/elementwise/elementwise.h"

#include "fast/parallel.h"

enum {
    TILE = 1024,    /* elements of a tile, at most */
    LONG = 256,     /* elements of a row from which on tiles are pieces of rows */
    PIECE = 1 << 15 /* elements times instructions of an item, at least */
};

typedef struct elementwise_work {
    prt_eval *c;
    const prt_kern *kern;
    prt_program_view v;
    uint32_t tiles;                  /* tiles of scratch */
    uint8_t tile[PRT_PROGRAM_STEPS]; /* tile of each instruction's result */
    bool by_rows;
    size_t size;  /* elements of a tile, unless by rows */
    size_t count; /* units shared by threads: elements by rows, or tiles */
    /* By input: its tile in scratch (SIZE_MAX: read in place), and whether it repeats with every
     * tile. */
    size_t input_tile[PRT_PROGRAM_INPUTS];
    bool again[PRT_PROGRAM_INPUTS];
    size_t pieces;
} elementwise_work;

/* Elements of a register: `step` is 1, or 0 for a scalar. */
typedef struct place {
    const void *at;
    size_t step;
} place;

/* Assigns result tiles to instructions; reuses tiles whose contents are not read any more. */
static void assign_tiles(elementwise_work *j)
{
    const uint32_t fixed = j->v.n_in + j->v.n_numbers;
    uint32_t last[PRT_PROGRAM_STEPS] = { 0 }, until[PRT_PROGRAM_STEPS];
    for (uint32_t s = 0; s < j->v.n_steps; s++)
        for (uint32_t i = 0; i < 3; i++)
            if (j->v.steps[s].operand[i] >= fixed)
                last[j->v.steps[s].operand[i] - fixed] = s;
    for (uint32_t s = 0; s < j->v.n_steps; s++) {
        uint32_t t = 0;
        while (t < j->tiles && until[t] >= s)
            t++;
        j->tiles = t < j->tiles ? j->tiles : t + 1;
        until[t] = last[s];
        j->tile[s] = (uint8_t)t;
    }
}

/* Runs one instruction on `n` elements; operands have n elements or are scalars. */
static void run_step(const prt_kern *kern, const prt_instruction *step, size_t n, const place *a,
    const place *b, const place *c, void *y)
{
    const int kind = prt_instruction_kind(step->code);
    const prt_kern_rows *rows = &kern->rows;
    const prt_kern_integer_logic *logic = &kern->integer_logic;
    switch (prt_instruction_form_of(step->code)) {
    case PRT_FORM_two:
        rows->binary(kind, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_one:
        rows->unary(kind, n, a->at, y);
        break;
    case PRT_FORM_act: {
        const prt_act act = { kind, *(const float *)b->at, *(const float *)c->at };
        rows->act(&act, n, a->at, y);
        break;
    }
    case PRT_FORM_compare:
        logic->compare(kind, PRT_KERN_TYPE_f32, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_logic:
        logic->logic(kind, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_choose:
        logic->select(sizeof(float), n, a->at, a->step, b->at, b->step, c->at, c->step, y);
        break;
    default:
        logic->cast(PRT_KERN_TYPE_bool, PRT_KERN_TYPE_f32, n, a->at, y);
    }
}

static size_t size_of(const prt_tensor *x)
{
    return x->dtype == PRT_DTYPE_bool ? 1 : sizeof(float);
}

/* Runs the program on one tile; `places` holds the inputs. */
static void run_tile(const elementwise_work *j, place *places, size_t count, float *y,
    float *scratch)
{
    const prt_program_view *v = &j->v;
    const uint32_t fixed = v->n_in + v->n_numbers;
    for (uint32_t i = 0; i < v->n_numbers; i++)
        places[v->n_in + i] = (place){ &v->numbers[i], 0 };
    for (uint32_t s = 0; s < v->n_steps; s++) {
        const prt_instruction *step = &v->steps[s];
        const uint32_t n = prt_form_operands(prt_instruction_form_of(step->code));
        const place *of[3];
        bool many = false;
        for (uint32_t i = 0; i < 3; i++) {
            of[i] = &places[step->operand[i]];
            many |= i < n && of[i]->step != 0;
        }
        const bool last = s + 1 == v->n_steps && (many || count == 1);
        float *to = last ? y : scratch + (size_t)j->tile[s] * TILE;
        run_step(j->kern, step, many ? count : 1, of[0], of[1], of[2], to);
        places[fixed + s] = (place){ to, many };
    }
    const place *result = &places[fixed + v->n_steps - 1];
    if (result->at != y) /* a scalar result is broadcast */
        j->kern->rows.binary(PRT_BINARY_max, count, result->at, 0, result->at, 0, y);
}

/* ---- by rows ---- */

static void run_rows(const elementwise_work *j, size_t first, size_t end, float *scratch)
{
    place places[PRT_PROGRAM_REGISTERS];
    prt_rows r;
    prt_rows_init(&r, j->c->out[0], j->v.n_in, j->c->in);
    r.most = TILE;
    prt_rows_part(&r, first, end);
    while (prt_rows_next(&r)) {
        for (uint32_t i = 0; i < j->v.n_in; i++) {
            const prt_tensor *x = j->c->in[i];
            places[i] = (place){ (const char *)x->data + r.from[i] * size_of(x), r.step[i] };
        }
        run_tile(j, places, r.count, (float *)j->c->out[0]->data + r.to, scratch);
    }
}

/* ---- by tiles ---- */

/* Returns the number of elements of the result after which input x repeats. */
static size_t period_of(const prt_tensor *x, const prt_tensor *y)
{
    size_t period = 1, at = 1;
    for (uint32_t k = 1; k <= x->rank && k <= y->rank; k++) {
        at *= (size_t)y->dims[y->rank - k];
        period = x->dims[x->rank - k] != 1 ? at : period;
    }
    return period;
}

/* Sets the size of tiles, and the inputs that are broadcast into tiles of their own. */
static void cut_tiles(elementwise_work *j)
{
    const prt_tensor *y = j->c->out[0];
    const size_t all = prt_tensor_count(y);
    size_t longest = 1;
    for (uint32_t i = 0; i < j->v.n_in; i++) {
        const size_t period = period_of(j->c->in[i], y), count = prt_tensor_count(j->c->in[i]);
        const bool whole = count == 1 || count == all;
        j->again[i] = period <= TILE;
        j->input_tile[i] = whole ? SIZE_MAX : j->tiles++;
        longest = !whole && j->again[i] && period > longest ? period : longest;
    }
    j->size = TILE / longest * longest; /* longer periods are multiples of shorter ones */
    j->count = (all + j->size - 1) / j->size;
}

/* Broadcasts elements [first, end) of input x. */
static void broadcast(const elementwise_work *j, const prt_tensor *x, size_t first, size_t end,
    char *to)
{
    const size_t size = size_of(x);
    prt_rows r;
    prt_rows_init(&r, j->c->out[0], 1, &x);
    r.most = SIZE_MAX;
    prt_rows_part(&r, first, end);
    for (; prt_rows_next(&r); to += r.count * size) {
        const char *from = (const char *)x->data + r.from[0] * size;
        if (r.step[0] != 0)
            memcpy(to, from, r.count * size);
        else if (size == 1)
            memset(to, *from, r.count);
        else
            j->kern->rows.binary(PRT_BINARY_max, r.count, (const float *)(const void *)from, 0,
                (const float *)(const void *)from, 0, (float *)(void *)to);
    }
}

static void run_tiles(const elementwise_work *j, size_t tile, size_t end, float *scratch)
{
    place places[PRT_PROGRAM_REGISTERS];
    const size_t all = prt_tensor_count(j->c->out[0]);
    for (bool begun = false; tile < end; tile++, begun = true) {
        const size_t first = tile * j->size, left = all - first;
        const size_t n = left < j->size ? left : j->size;
        for (uint32_t i = 0; i < j->v.n_in; i++) {
            const prt_tensor *x = j->c->in[i];
            const bool one = prt_tensor_count(x) == 1;
            float *input_tile = scratch + j->input_tile[i] * TILE;
            if (j->input_tile[i] == SIZE_MAX) {
                places[i] = (place){ (const char *)x->data + (one ? 0 : first * size_of(x)), !one };
                continue;
            }
            if (!begun || !j->again[i])
                broadcast(j, x, first, first + n, (char *)(void *)input_tile);
            places[i] = (place){ input_tile, 1 };
        }
        run_tile(j, places, n, (float *)j->c->out[0]->data + first, scratch);
    }
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const elementwise_work *j = user;
    const size_t first = prt_parallel_piece_begin(j->count, j->pieces, item);
    (j->by_rows ? run_rows : run_tiles)(j, first,
        prt_parallel_piece_begin(j->count, j->pieces, item + 1), scratch);
}

bool prt_elementwise_pays(const prt_eval *c, uint32_t steps)
{
    const size_t all = prt_tensor_count(c->out[0]);
    bool any = false;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const size_t count = prt_tensor_count(c->in[i]);
        const bool broadcast = count != all && count != 1;
        any |= broadcast;
        if (broadcast && steps == 1 && period_of(c->in[i], c->out[0]) > TILE)
            return false;
    }
    prt_rows r;
    if (!any)
        return false;
    prt_rows_init(&r, c->out[0], c->n_in, c->in);
    return r.rank > 1 && prt_rows_longest(&r) < LONG;
}

poprt_status prt_elementwise_run(prt_eval *c, const prt_kern *k, const prt_program_view *v)
{
    elementwise_work j = { .c = c, .kern = k, .v = *v };
    assign_tiles(&j);
    j.by_rows = !prt_elementwise_pays(c, v->n_steps);
    j.count = prt_tensor_count(c->out[0]);
    j.pieces = prt_parallel_balanced_pieces(c, j.count * j.v.n_steps, PIECE);
    if (!j.by_rows)
        cut_tiles(&j);
    j.pieces = j.pieces < j.count ? j.pieces : j.count;
    return prt_parallel_for(c, j.pieces, (size_t)j.tiles * TILE, run_piece, &j);
}

poprt_status prt_fast_elementwise(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_program_view v = prt_elementwise_program(c->attrs, c->n_in);
    return prt_eval_wants(c, 0) ? prt_elementwise_run(c, k, &v) : prt_fast_use_reference(done);
}
