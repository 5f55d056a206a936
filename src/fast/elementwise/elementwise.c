/* SPDX-License-Identifier: MIT */
/*
 * elementwise.c — Elementwise: a tile of the result at a time goes through the whole program, with
 * what lies between in a few tiles of memory that stay in the first cache level.
 *
 * A tile is a piece of a row, where all inputs go on alike for long; else, where that pays, any
 * piece of the result, for which inputs that are smaller are spread out first: once for all tiles,
 * where they begin anew with each.
 */
#include "fast/elementwise/elementwise.h"

#include "fast/parallel.h"

enum {
    TILE = 1024,    /* elements at most */
    LONG = 256,     /* elements of a row worth going by */
    PIECE = 1 << 15 /* elements through instructions that are worth handing to another thread */
};

typedef struct job {
    prt_eval *c;
    const prt_kern *kern;
    prt_program_view v;
    uint32_t tiles;                  /* of memory */
    uint8_t tile[PRT_PROGRAM_STEPS]; /* where an instruction leaves its result */
    bool by_rows;
    size_t size;  /* else: elements of a tile */
    size_t count; /* what is shared: elements by rows, or tiles */
    /* By input: its tile (SIZE_MAX: it needs none), and whether it begins anew with each. */
    size_t room[PRT_PROGRAM_INPUTS];
    bool again[PRT_PROGRAM_INPUTS];
    size_t pieces;
} job;

/* Elements of a register: 1 apart, or 0 for one element that stands for all. */
typedef struct place {
    const void *at;
    size_t step;
} place;

/* Instructions take the tiles of what none from then on reads. */
static void settle(job *j)
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

/* `n` elements through an instruction; operands have as many, or one for all. */
static void run_step(const prt_kern *kern, const prt_instruction *step, size_t n, const place *a,
    const place *b, const place *c, void *y)
{
    const int kind = prt_instruction_kind(step->code);
    const prt_kern_rows *rows = &kern->rows;
    const prt_kern_plain *plain = &kern->plain;
    switch (prt_instruction_form_of(step->code)) {
    case PRT_FORM_two:
        rows->two(kind, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_one:
        rows->one(kind, n, a->at, y);
        break;
    case PRT_FORM_act: {
        const prt_act act = { kind, *(const float *)b->at, *(const float *)c->at };
        rows->act(&act, n, a->at, y);
        break;
    }
    case PRT_FORM_compare:
        plain->compare(kind, PRT_PLAIN_f32, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_logic:
        plain->logic(kind, n, a->at, a->step, b->at, b->step, y);
        break;
    case PRT_FORM_choose:
        plain->choose(sizeof(float), n, a->at, a->step, b->at, b->step, c->at, c->step, y);
        break;
    default:
        plain->cast(PRT_PLAIN_bool, PRT_PLAIN_f32, n, a->at, y);
    }
}

static size_t size_of(const prt_tensor *x)
{
    return x->dtype == PRT_DTYPE_bool ? 1 : sizeof(float);
}

/* One tile: `places` has the inputs. */
static void run_tile(const job *j, place *places, size_t count, float *y, float *scratch)
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
    if (result->at != y) /* one element for all of them */
        j->kern->rows.two(PRT_TWO_max, count, result->at, 0, result->at, 0, y);
}

/* ---- by rows ---- */

static void run_rows(const job *j, size_t first, size_t end, float *scratch)
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

/* Elements of the result after which input x begins anew. */
static size_t period_of(const prt_tensor *x, const prt_tensor *y)
{
    size_t period = 1, at = 1;
    for (uint32_t k = 1; k <= x->rank && k <= y->rank; k++) {
        at *= (size_t)y->dims[y->rank - k];
        period = x->dims[x->rank - k] != 1 ? at : period;
    }
    return period;
}

/* How tiles are cut, and which inputs get tiles of their own. */
static void cut_tiles(job *j)
{
    const prt_tensor *y = j->c->out[0];
    const size_t all = prt_tensor_count(y);
    size_t longest = 1;
    for (uint32_t i = 0; i < j->v.n_in; i++) {
        const size_t period = period_of(j->c->in[i], y), count = prt_tensor_count(j->c->in[i]);
        const bool whole = count == 1 || count == all;
        j->again[i] = period <= TILE;
        j->room[i] = whole ? SIZE_MAX : j->tiles++;
        longest = !whole && j->again[i] && period > longest ? period : longest;
    }
    j->size = TILE / longest * longest; /* a period is a multiple of all that are shorter */
    j->count = (all + j->size - 1) / j->size;
}

/* Elements [first, end) of input x, broadcast. */
static void spread(const job *j, const prt_tensor *x, size_t first, size_t end, char *to)
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
            j->kern->rows.two(PRT_TWO_max, r.count, (const float *)(const void *)from, 0,
                (const float *)(const void *)from, 0, (float *)(void *)to);
    }
}

static void run_tiles(const job *j, size_t tile, size_t end, float *scratch)
{
    place places[PRT_PROGRAM_REGISTERS];
    const size_t all = prt_tensor_count(j->c->out[0]);
    for (bool begun = false; tile < end; tile++, begun = true) {
        const size_t first = tile * j->size, left = all - first;
        const size_t n = left < j->size ? left : j->size;
        for (uint32_t i = 0; i < j->v.n_in; i++) {
            const prt_tensor *x = j->c->in[i];
            const bool one = prt_tensor_count(x) == 1;
            float *room = scratch + j->room[i] * TILE;
            if (j->room[i] == SIZE_MAX) {
                places[i] = (place){ (const char *)x->data + (one ? 0 : first * size_of(x)), !one };
                continue;
            }
            if (!begun || !j->again[i])
                spread(j, x, first, first + n, (char *)(void *)room);
            places[i] = (place){ room, 1 };
        }
        run_tile(j, places, n, (float *)j->c->out[0]->data + first, scratch);
    }
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t first = prt_parallel_cut(j->count, j->pieces, item);
    (j->by_rows ? run_rows : run_tiles)(j, first, prt_parallel_cut(j->count, j->pieces, item + 1),
        scratch);
}

bool prt_elementwise_pays(const prt_eval *c, uint32_t steps)
{
    const size_t all = prt_tensor_count(c->out[0]);
    bool any = false;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const size_t count = prt_tensor_count(c->in[i]);
        const bool spread = count != all && count != 1;
        any |= spread;
        if (spread && steps == 1 && period_of(c->in[i], c->out[0]) > TILE)
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
    job j = { .c = c, .kern = k, .v = *v };
    settle(&j);
    j.by_rows = !prt_elementwise_pays(c, v->n_steps);
    j.count = prt_tensor_count(c->out[0]);
    j.pieces = prt_parallel_alike(c, j.count * j.v.n_steps, PIECE);
    if (!j.by_rows)
        cut_tiles(&j);
    j.pieces = j.pieces < j.count ? j.pieces : j.count;
    return prt_parallel_for(c, j.pieces, (size_t)j.tiles * TILE, run_piece, &j);
}

poprt_status prt_fast_elementwise(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_elementwise(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_program_view v = prt_elementwise_program(c->attrs, c->n_in);
    return prt_eval_wants(c, 0) ? prt_elementwise_run(c, k, &v) : prt_fast_pass(done);
}
