/* SPDX-License-Identifier: MIT */
/*
 * elementwise.c — Elementwise: runs its instructions in order. Each result is computed in double
 * and rounded to float32, as the operators that the instruction replaces would store it.
 */
#include "op/internal/elementwise.h"

#include <math.h>

#include "kern/rows/integer_logic.h"
#include "kern/rows/rows.h"
#include "op/internal/fused.h"

typedef struct row {
    uint8_t form, kind;
} row;

static const row rows[PRT_INSTRUCTION_COUNT] = {
#define INSTRUCTION(name, form, kind) { PRT_FORM_##form, kind },
#include "op/internal/elementwise.def"
};

int64_t prt_instruction_of(uint32_t op)
{
    static const uint8_t codes[PRT_OP_COUNT] = {
#define CODE(op, name) [PRT_OP_##op] = PRT_INSTRUCTION_##name + 1
        CODE(add, add),
        CODE(sub, sub),
        CODE(mul, mul),
        CODE(div, div),
        CODE(max, max),
        CODE(min, min),
        CODE(sum, add),
        CODE(prelu, prelu),
        CODE(abs, abs),
        CODE(neg, neg),
        CODE(sqrt, sqrt),
        CODE(reciprocal, reciprocal),
        CODE(exp, exp),
        CODE(erf, erf),
        CODE(log, log),
        CODE(sin, sin),
        CODE(cos, cos),
        CODE(floor, floor),
        CODE(ceil, ceil),
        CODE(round, round),
        CODE(sign, sign),
        CODE(equal, equal),
        CODE(less, less),
        CODE(less_or_equal, less_or_equal),
        CODE(greater, less),
        CODE(greater_or_equal, less_or_equal),
        CODE(and, and),
        CODE(or, or),
        CODE(xor, xor),
        CODE(where, where),
        CODE(atan, atan),
        CODE(tan, tan),
#undef CODE
    };
    return (int64_t)codes[op] - 1;
}

int64_t prt_instruction_of_power(double exponent)
{
    static const struct {
        double exponent;
        int64_t code;
    } powers[] = { { 2.0, PRT_INSTRUCTION_square }, { 3.0, PRT_INSTRUCTION_cube },
        { 0.5, PRT_INSTRUCTION_root }, { -0.5, PRT_INSTRUCTION_inverse_root },
        { -1.0, PRT_INSTRUCTION_reciprocal } };
    for (size_t i = 0; i < PRT_COUNT_OF(powers); i++)
        if (powers[i].exponent == exponent)
            return powers[i].code;
    return -1;
}

prt_instruction_form prt_instruction_form_of(int64_t code)
{
    return (prt_instruction_form)rows[code].form;
}

int prt_instruction_kind(int64_t code)
{
    return rows[code].kind;
}

uint32_t prt_form_operands(prt_instruction_form form)
{
    static const uint8_t operands[PRT_FORM_COUNT] = { [PRT_FORM_two] = 2,
        [PRT_FORM_one] = 1,
        [PRT_FORM_act] = 1,
        [PRT_FORM_compare] = 2,
        [PRT_FORM_logic] = 2,
        [PRT_FORM_choose] = 3,
        [PRT_FORM_number] = 1 };
    return operands[form];
}

uint32_t prt_form_registers(prt_instruction_form form)
{
    return form == PRT_FORM_act ? 3 : prt_form_operands(form);
}

bool prt_form_is_truth(prt_instruction_form form)
{
    return form == PRT_FORM_compare || form == PRT_FORM_logic;
}

bool prt_form_takes_truth(prt_instruction_form form, uint32_t i)
{
    return form == PRT_FORM_logic || form == PRT_FORM_number || (form == PRT_FORM_choose && i == 0);
}

prt_program_view prt_elementwise_program(const prt_elementwise_attrs *a, uint32_t n_in)
{
    return (prt_program_view){ .n_in = n_in,
        .n_numbers = a->numbers.count,
        .n_steps = a->program.count / 4,
        .numbers = a->numbers.data,
        .steps = (const prt_instruction *)(const void *)a->program.data };
}

/* ---- validation ---- */

/* Checks instruction s. truth[r] says whether register r is boolean; sets the entry of its
   result. */
static poprt_status check_step(prt_infer *c, const prt_program_view *v, uint32_t s, bool *truth)
{
    const prt_instruction *step = &v->steps[s];
    const uint32_t fixed = v->n_in + v->n_numbers;
    if (step->code < 0 || step->code >= PRT_INSTRUCTION_COUNT)
        return prt_infer_fail(c, POPRT_E_ARG, "instruction %u: code %lld is unknown", s,
            (long long)step->code);
    const prt_instruction_form form = prt_instruction_form_of(step->code);
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t at = step->operand[i];
        const bool number = form == PRT_FORM_act && i > 0;
        const bool used = i < prt_form_registers(form);
        if (used ? at < (number ? v->n_in : 0) || at >= (number ? fixed : fixed + s) : at != 0)
            return prt_infer_fail(c, POPRT_E_ARG,
                "instruction %u: operand %lld is not a register that it may read", s,
                (long long)at);
        if (used && truth[at] != prt_form_takes_truth(form, i))
            return prt_infer_fail(c, POPRT_E_TYPE, "instruction %u: an operand is %sboolean", s,
                truth[at] ? "" : "not ");
    }
    truth[fixed + s] = prt_form_is_truth(form);
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_elementwise_attrs *a = c->attrs;
    bool truth[PRT_PROGRAM_REGISTERS] = { false };
    prt_shape shape = { .kind = PRT_VALUE_TENSOR };
    const prt_program_view v = prt_elementwise_program(a, c->n_in);
    if (c->n_in > PRT_PROGRAM_INPUTS || v.n_numbers > PRT_PROGRAM_NUMBERS || v.n_steps == 0 ||
        v.n_steps > PRT_PROGRAM_STEPS || a->program.count % 4 != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "%u inputs, %u numbers and a program of %u integers: a count is too large, or not a "
            "multiple of 4",
            c->n_in, v.n_numbers, a->program.count);
    for (uint32_t i = 0; i < c->n_in; i++)
        truth[i] = c->in[i].dtype == PRT_DTYPE_bool;
    for (uint32_t s = 0; s < v.n_steps; s++)
        PRT_TRY(check_step(c, &v, s, truth));
    if (truth[v.n_in + v.n_numbers + v.n_steps - 1])
        return prt_infer_fail(c, POPRT_E_TYPE, "the result is boolean; it must be float32");
    PRT_TRY(prt_infer_broadcast(c, 0, c->n_in, &shape));
    return prt_infer_set(c, 0, PRT_DTYPE_f32, shape.rank, shape.dims);
}

/* ---- evaluation ---- */

static double two_of(int kind, double a, double b)
{
    switch (kind) {
    case PRT_BINARY_add:
        return a + b;
    case PRT_BINARY_sub:
        return a - b;
    case PRT_BINARY_mul:
        return a * b;
    case PRT_BINARY_div:
        return a / b;
    case PRT_BINARY_max:
        return isnan(a) || a > b ? a : b;
    case PRT_BINARY_min:
        return isnan(a) || a < b ? a : b;
    default:
        return a < 0.0 ? a * b : a;
    }
}

static double one_of(int kind, double x)
{
    static double (*const functions[])(double) = { [PRT_UNARY_abs] = fabs,
        [PRT_UNARY_sqrt] = sqrt,
        [PRT_UNARY_exp] = exp,
        [PRT_UNARY_erf] = erf,
        [PRT_UNARY_log] = log,
        [PRT_UNARY_sin] = sin,
        [PRT_UNARY_cos] = cos,
        [PRT_UNARY_floor] = floor,
        [PRT_UNARY_ceil] = ceil,
        [PRT_UNARY_round] = nearbyint,
        [PRT_UNARY_atan] = atan,
        [PRT_UNARY_tan] = tan };
    switch (kind) {
    case PRT_UNARY_neg:
        return -x;
    case PRT_UNARY_reciprocal:
        return 1.0 / x;
    case PRT_UNARY_sign:
        return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : isnan(x) ? x : 0.0;
    case PRT_UNARY_square:
        return x * x;
    case PRT_UNARY_cube:
        return x * x * x;
    case PRT_UNARY_root:
        return pow(x, 0.5);
    case PRT_UNARY_inverse_root:
        return pow(x, -0.5);
    default:
        return functions[kind](x);
    }
}

static double truth_of(const row *r, double a, double b)
{
    if (r->form == PRT_FORM_logic)
        return r->kind == PRT_LOGIC_and ? a * b : r->kind == PRT_LOGIC_or ? a + b - a * b : a != b;
    return r->kind == PRT_COMPARE_equal ? a == b : r->kind == PRT_COMPARE_less ? a < b : a <= b;
}

/* Applies one instruction to one element. */
static double result_of(const prt_instruction *step, const double *a, const double *b,
    const double *c)
{
    const row *r = &rows[step->code];
    const prt_act act = { r->kind, (float)*b, (float)*c };
    switch (r->form) {
    case PRT_FORM_two:
        return two_of(r->kind, *a, *b);
    case PRT_FORM_one:
        return one_of(r->kind, *a);
    case PRT_FORM_act:
        return prt_fused_act_value(&act, *a);
    case PRT_FORM_choose:
        return *a != 0.0 ? *b : *c;
    case PRT_FORM_number:
        return *a;
    default:
        return truth_of(r, *a, *b);
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_program_view v = prt_elementwise_program(c->attrs, c->n_in);
    const uint32_t fixed = v.n_in + v.n_numbers;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    double *at = prt_eval_scratch(c, fixed + v.n_steps, PRT_RUN * sizeof(double));
    prt_rows r;
    if (at == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < v.n_numbers; i++)
        for (size_t k = 0; k < PRT_RUN; k++)
            at[(v.n_in + i) * PRT_RUN + k] = (double)v.numbers[i];
    prt_rows_init(&r, c->out[0], c->n_in, c->in);
    while (prt_rows_next(&r)) {
        double *y = at + (size_t)fixed * PRT_RUN;
        for (uint32_t i = 0; i < v.n_in; i++)
            prt_read_f64(c->in[i]->dtype, c->in[i]->data, r.from[i], r.step[i], r.count,
                at + i * PRT_RUN);
        for (uint32_t s = 0; s < v.n_steps; s++, y += PRT_RUN) {
            const int64_t *from = v.steps[s].operand;
            for (size_t k = 0; k < r.count; k++)
                y[k] = (double)(float)result_of(&v.steps[s], at + from[0] * PRT_RUN + k,
                    at + from[1] * PRT_RUN + k, at + from[2] * PRT_RUN + k);
        }
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, r.to, r.count, y - PRT_RUN);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_elementwise = { .infer = infer, .eval = eval };
