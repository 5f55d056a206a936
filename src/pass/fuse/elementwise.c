/* SPDX-License-Identifier: MIT */
/*
 * elementwise.c — fuse_elementwise: merges consecutive element-wise operators on float32 into one
 * Elementwise operator, which reads and writes memory once. An operator absorbs the producer of one
 * of its inputs, if it is the only reader and both results have the same shape. Repeated, this
 * merges whole chains and branches that join.
 *
 * Instructions are the operators' own kernels in the same order, so results are bitwise equal. The
 * exception is Sum, which rounds after each input here, and only once in the reference.
 */
#include "op/internal/elementwise.h"
#include "op/internal/fused.h"
#include "pass/fuse/epilogue.h"

/* A program under construction. */
typedef struct draft {
    uint32_t n_in, n_numbers, n_steps;
    prt_value *in[PRT_PROGRAM_INPUTS];
    float numbers[PRT_PROGRAM_NUMBERS];
    prt_instruction steps[PRT_PROGRAM_STEPS];
    bool overflows; /* a table of the program has no space left */
} draft;

/* Register numbers of constants and steps in a draft; the final numbers, which depend on the
 * numbers of inputs and constants, are assigned at the end. */
enum { NUMBER = 1000, STEP = 2000 };

static int64_t add_input(draft *d, prt_value *v)
{
    for (uint32_t i = 0; i < d->n_in; i++)
        if (d->in[i] == v)
            return i;
    d->overflows |= d->n_in == PRT_PROGRAM_INPUTS;
    if (!d->overflows)
        d->in[d->n_in++] = v;
    return d->n_in - 1;
}

static int64_t add_number(draft *d, float x)
{
    for (uint32_t i = 0; i < d->n_numbers; i++)
        if (memcmp(&d->numbers[i], &x, sizeof(x)) == 0)
            return NUMBER + i;
    d->overflows |= d->n_numbers == PRT_PROGRAM_NUMBERS;
    if (!d->overflows)
        d->numbers[d->n_numbers++] = x;
    return NUMBER + d->n_numbers - 1;
}

static int64_t add_step(draft *d, int64_t code, int64_t a, int64_t b, int64_t c)
{
    d->overflows |= d->n_steps == PRT_PROGRAM_STEPS;
    if (!d->overflows)
        d->steps[d->n_steps++] = (prt_instruction){ code, { a, b, c } };
    return STEP + d->n_steps - 1;
}

static bool is_number(const prt_op *op, uint32_t slot, prt_tensor *t)
{
    return prt_match_constant(op, slot, t) && t->dtype == PRT_DTYPE_f32 && prt_tensor_count(t) == 1;
}

/* Adds input `slot` of an operator. A scalar constant becomes a number of the program if another
 * input, which is not such a constant, has at least its rank; otherwise it is an input. */
static int64_t add_operand(draft *d, const prt_op *op, uint32_t slot)
{
    prt_tensor t, other;
    bool covered = false;
    for (uint32_t i = 0; i < op->n_in && is_number(op, slot, &t); i++)
        covered |= i != slot && prt_op_input(op, i)->type->rank >= (int32_t)t.rank &&
            !is_number(op, i, &other);
    return covered ? add_number(d, (float)prt_load_f64(t.dtype, t.data, 0))
                   : add_input(d, prt_op_input(op, slot));
}

/* ---- operators as instructions ---- */

/* Returns the instruction of an operator; -1: it has none. */
static int64_t code_of(const prt_op *op)
{
    static const uint8_t acts[PRT_ACT_COUNT] = {
#define CODE(name) [PRT_ACT_##name] = PRT_INSTRUCTION_##name + 1
        CODE(relu),
        CODE(clip),
        CODE(leaky_relu),
        CODE(sigmoid),
        CODE(tanh),
        CODE(silu),
        CODE(hard_sigmoid),
        CODE(hard_swish),
        CODE(gelu),
        CODE(gelu_tanh),
#undef CODE
    };
    const int64_t code = prt_instruction_of(op->def->id);
    prt_act act;
    return code >= 0 ? code : prt_epilogue_act(op, &act) ? acts[act.kind] - 1 : -1;
}

/* Adds a Pow whose constant exponent has an instruction; false: it has none. */
static bool draft_pow(draft *d, const prt_op *op)
{
    double exponent;
    const int64_t code =
        prt_match_number(op, 1, &exponent) ? prt_instruction_of_power(exponent) : -1;
    if (code >= 0)
        (void)add_step(d, code, add_operand(d, op, 0), 0, 0);
    return code >= 0;
}

/* Returns whether the inputs have the types of the signature: float32, or bool for a condition. */
static bool has_operand_types(const prt_op *op, prt_instruction_form form)
{
    for (uint32_t i = 0; i < op->n_in && i < (form == PRT_FORM_act ? 1 : op->n_in); i++) {
        const int32_t dtype = prt_form_takes_truth(form, i) ? PRT_DTYPE_bool : PRT_DTYPE_f32;
        if (prt_match_dtype(prt_op_input(op, i)) != dtype ||
            prt_match_ranked(prt_op_input(op, i)) == NULL)
            return false;
    }
    return op->n_in != 0;
}

static void draft_step(draft *d, const prt_op *op, int64_t code, prt_instruction_form form)
{
    const bool swapped = prt_op_is(op, PRT_OP_greater) || prt_op_is(op, PRT_OP_greater_or_equal);
    prt_act act;
    int64_t at = add_operand(d, op, swapped ? 1 : 0);
    if (form == PRT_FORM_act) {
        (void)prt_epilogue_act(op, &act);
        const int64_t a = add_number(d, act.a);
        (void)add_step(d, code, at, a, add_number(d, act.b));
    } else if (form == PRT_FORM_one) {
        (void)add_step(d, code, at, 0, 0);
    } else if (form == PRT_FORM_choose) {
        const int64_t b = add_operand(d, op, 1);
        (void)add_step(d, code, at, b, add_operand(d, op, 2));
    } else {
        for (uint32_t i = 1; i < op->n_in; i++)
            at = add_step(d, code, at, add_operand(d, op, swapped ? 0 : i), 0);
    }
}

/* Translates an op to a program; false: the op is not supported or too large. */
static bool draft_of(draft *d, const prt_op *op)
{
    *d = (draft){ .n_in = 0 };
    if (op->def == NULL || op->def->id >= PRT_OP_COUNT ||
        op->n_out != 1 || /* of a plug-in, for instance */
        !prt_type_is_tensor(op->out[0].type) || op->out[0].type->rank < 0)
        return false;
    if (prt_op_is(op, PRT_OP_elementwise)) {
        const prt_program_view v = prt_elementwise_program(op->attrs, op->n_in);
        const int64_t in = v.n_in, fixed = in + v.n_numbers;
        for (uint32_t i = 0; i < v.n_in; i++)
            (void)add_input(d, prt_op_input(op, i));
        memcpy(d->numbers, v.numbers, v.n_numbers * sizeof(float));
        d->n_numbers = v.n_numbers;
        for (uint32_t s = 0; s < v.n_steps; s++) {
            const int64_t *from = v.steps[s].operand;
            int64_t to[3];
            for (uint32_t i = 0; i < 3; i++)
                to[i] = from[i] < in  ? from[i]
                    : from[i] < fixed ? from[i] - in + NUMBER
                                      : from[i] - fixed + STEP;
            (void)add_step(d, v.steps[s].code, to[0], to[1], to[2]);
        }
        return !d->overflows;
    }
    if (prt_op_is(op, PRT_OP_pow))
        return has_operand_types(op, PRT_FORM_two) && draft_pow(d, op) && !d->overflows;
    if (prt_op_is(op, PRT_OP_cast)) {
        if (prt_match_dtype(prt_op_input(op, 0)) != PRT_DTYPE_bool ||
            op->out[0].type->dtype != PRT_DTYPE_f32)
            return false;
        (void)add_step(d, PRT_INSTRUCTION_number, add_input(d, prt_op_input(op, 0)), 0, 0);
        return true;
    }
    const int64_t code = code_of(op);
    if (code < 0 || !has_operand_types(op, prt_instruction_form_of(code)))
        return false;
    draft_step(d, op, code, prt_instruction_form_of(code));
    return !d->overflows && d->n_steps != 0;
}

/* ---- joining ---- */

static bool same_shape(const prt_type *a, const prt_type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] || a->dims[i] == PRT_DIM_UNKNOWN)
            return false;
    return true;
}

/* Appends all steps of `part` to the draft. Operands equal to `but` become register `with`. Returns
 * the register of the last result. */
static int64_t append(draft *d, const draft *part, const prt_value *but, int64_t with)
{
    int64_t in[PRT_PROGRAM_INPUTS], numbers[PRT_PROGRAM_NUMBERS];
    const int64_t before = d->n_steps;
    for (uint32_t i = 0; i < part->n_in; i++)
        in[i] = part->in[i] == but ? with : add_input(d, part->in[i]);
    for (uint32_t i = 0; i < part->n_numbers; i++)
        numbers[i] = add_number(d, part->numbers[i]);
    for (uint32_t s = 0; s < part->n_steps; s++) {
        const prt_instruction_form form = prt_instruction_form_of(part->steps[s].code);
        const uint32_t used = prt_form_registers(form);
        int64_t to[3] = { 0 };
        for (uint32_t i = 0; i < used; i++) {
            const int64_t from = part->steps[s].operand[i];
            to[i] = from >= STEP ? from + before
                : from >= NUMBER ? numbers[from - NUMBER]
                                 : in[from];
        }
        (void)add_step(d, part->steps[s].code, to[0], to[1], to[2]);
    }
    return STEP + d->n_steps - 1;
}

static bool replace(prt_build *b, prt_op *root, draft *d)
{
    prt_elementwise_attrs attrs = PRT_ATTRS_OF(elementwise);
    for (uint32_t s = 0; s < d->n_steps; s++) {
        const prt_instruction_form form = prt_instruction_form_of(d->steps[s].code);
        const uint32_t used = prt_form_registers(form);
        for (uint32_t i = 0; i < used; i++) {
            int64_t *at = &d->steps[s].operand[i];
            *at = *at >= STEP   ? *at - STEP + d->n_in + d->n_numbers
                : *at >= NUMBER ? *at - NUMBER + d->n_in
                                : *at;
        }
    }
    const prt_i64s program = { (const int64_t *)(const void *)d->steps, 4 * d->n_steps };
    const prt_f32s numbers = { d->numbers, d->n_numbers };
    PRT_ATTR_SET(attrs, elementwise, program, program);
    if (d->n_numbers != 0)
        PRT_ATTR_SET(attrs, elementwise, numbers, numbers);
    return prt_match_replace_named(b, root, PRT_OP_elementwise, &attrs, d->n_in, d->in);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    draft whole, part, all;
    (void)p;
    if (prt_match_dtype(&root->out[0]) != PRT_DTYPE_f32 || !draft_of(&whole, root))
        return false;
    for (uint32_t i = 0; i < whole.n_in; i++) {
        prt_op *producer = whole.in[i] != NULL ? whole.in[i]->def : NULL;
        if (producer == NULL || producer->graph != root->graph ||
            !prt_value_is_read_by(whole.in[i], root) || !draft_of(&part, producer) ||
            !same_shape(producer->out[0].type, root->out[0].type))
            continue;
        all = (draft){ .n_in = 0 };
        const int64_t made = append(&all, &part, NULL, 0);
        (void)append(&all, &whole, whole.in[i], made);
        if (!all.overflows)
            return replace(b, root, &all);
    }
    return false;
}

static const prt_rewrite rewrites[] = {
#define ROOT(op)                                                                                   \
    {                                                                                              \
        PRT_OP_##op, apply                                                                         \
    }
    ROOT(elementwise),
    ROOT(add),
    ROOT(sub),
    ROOT(mul),
    ROOT(div),
    ROOT(max),
    ROOT(min),
    ROOT(sum),
    ROOT(prelu),
    ROOT(abs),
    ROOT(neg),
    ROOT(sqrt),
    ROOT(reciprocal),
    ROOT(exp),
    ROOT(erf),
    ROOT(log),
    ROOT(sin),
    ROOT(cos),
    ROOT(atan),
    ROOT(floor),
    ROOT(ceil),
    ROOT(round),
    ROOT(sign),
    ROOT(pow),
    ROOT(where),
    ROOT(cast),
    PRT_EPILOGUE_ACTS(apply),
#undef ROOT
};

const prt_pass_hooks prt_pass_fuse_elementwise = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
