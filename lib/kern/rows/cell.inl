/* SPDX-License-Identifier: MIT */
/* cell.inl — cell.h for one instruction-set level. */
#ifndef PRT_KERN_ROWS_CELL_INL
#define PRT_KERN_ROWS_CELL_INL

#include "kern/rows/cell.h"
#include "kern/vector/act.inl"

/* A function with its parameters and the clipping before it, broadcast to vectors. */
typedef struct gate_fn {
    int kind;
    vf a, b, low, high;
} gate_fn;

static inline gate_fn gate_of(const prt_cell_acts *acts, size_t i, int kind)
{
    const prt_act *act = &acts->act[i];
    return (gate_fn){ kind, v_set(act->a), v_set(act->b), v_set(-acts->clip), v_set(acts->clip) };
}

static __attribute__((noinline)) vf act_any(vf x, int kind, vf a, vf b)
{
    return v_act(x, kind, a, b);
}

/* The default functions are compile-time constants; the code of all others exists once. */
static inline vf act_in_cell(vf x, int kind, vf a, vf b)
{
    return __builtin_constant_p(kind) ? v_act(x, kind, a, b) : act_any(x, kind, a, b);
}

/* NaN is preserved: min and max return their second operand. */
static inline vf v_gate(const gate_fn *f, vf x)
{
    return act_in_cell(v_min(f->high, v_max(f->low, x)), f->kind, f->a, f->b);
}

static inline void lstm_row(const prt_lstm_cell *l, const int kind_f, const int kind_g,
    const int kind_h)
{
    const gate_fn f = gate_of(l->acts, 0, kind_f), g = gate_of(l->acts, 1, kind_g);
    const gate_fn h = gate_of(l->acts, 2, kind_h);
    const size_t n = l->n;
    const float *p = l->peepholes;
    for (size_t k = 0; k < n; k += VL) {
        const vf before = v_load_some(l->c, k, n);
        vf in = v_load_some(l->gates, k, n), out = v_load_some(l->gates + n, k, n);
        vf forget = v_load_some(l->gates + 2 * n, k, n);
        if (p != NULL) {
            in = v_fma(v_load_some(p, k, n), before, in);
            forget = v_fma(v_load_some(p + 2 * n, k, n), before, forget);
        }
        in = v_gate(&f, in);
        forget = l->coupled ? v_sub(v_set(1.0f), in) : v_gate(&f, forget);
        const vf fresh = v_gate(&g, v_load_some(l->gates + 3 * n, k, n));
        const vf c = v_fma(forget, before, v_mul(in, fresh));
        if (p != NULL)
            out = v_fma(v_load_some(p + n, k, n), c, out);
        v_store_some(l->c, k, n, c);
        v_store_some(l->h, k, n, v_mul(v_gate(&f, out), act_in_cell(c, h.kind, h.a, h.b)));
    }
}

static void run_lstm(const prt_lstm_cell *l)
{
    const prt_act *act = l->acts->act;
    if (act[0].kind == PRT_ACT_sigmoid && act[1].kind == PRT_ACT_tanh &&
        act[2].kind == PRT_ACT_tanh)
        lstm_row(l, PRT_ACT_sigmoid, PRT_ACT_tanh, PRT_ACT_tanh);
    else
        lstm_row(l, act[0].kind, act[1].kind, act[2].kind);
}

static inline void gru_reset(const prt_gru_cell *u, const int kind)
{
    const gate_fn f = gate_of(u->acts, 0, kind);
    const size_t n = u->n;
    for (size_t k = 0; k < n; k += VL) {
        vf with = v_load_some(u->with, k, n);
        if (u->bias != NULL)
            with = v_add(with, v_load_some(u->bias, k, n));
        const vf r = v_gate(&f, v_load_some(u->gates + n, k, n));
        v_store_some(u->gates, k, n, v_gate(&f, v_load_some(u->gates, k, n)));
        v_store_some(u->reset, k, n, v_mul(r, with));
    }
}

static void run_gru_reset(const prt_gru_cell *u)
{
    const int kind = u->acts->act[0].kind;
    if (kind == PRT_ACT_sigmoid)
        gru_reset(u, PRT_ACT_sigmoid);
    else
        gru_reset(u, kind);
}

static inline void gru_state(const prt_gru_cell *u, const int kind)
{
    const gate_fn g = gate_of(u->acts, 1, kind);
    const size_t n = u->n;
    for (size_t k = 0; k < n; k += VL) {
        const vf z = v_load_some(u->gates, k, n), before = v_load_some(u->h, k, n);
        vf x = v_load_some(u->gates + 2 * n, k, n);
        if (u->add)
            x = v_add(x, v_load_some(u->reset, k, n));
        const vf kept = v_mul(z, before);
        v_store_some(u->h, k, n, v_fma(v_sub(v_set(1.0f), z), v_gate(&g, x), kept));
    }
}

static void run_gru_state(const prt_gru_cell *u)
{
    const int kind = u->acts->act[1].kind;
    if (kind == PRT_ACT_tanh)
        gru_state(u, PRT_ACT_tanh);
    else
        gru_state(u, kind);
}

#endif
