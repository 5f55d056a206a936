/* SPDX-License-Identifier: MIT */
/*
 * eight_bits.c — eight_bits_io: images are uint8 at the inputs and outputs, a quarter of the
 * traffic of float32.
 *
 * Float inputs with 4 dimensions, channels first or last, become uint8, and the graph normalises
 * them: x / (255 std) - mean / std by channel. `mean` and `std` have one number for each channel,
 * or one for all; in the latter case images have 1, 3 or 4 channels. Without both options the
 * ImageNet values for three channels are used, with a warning.
 *
 * Float outputs with 4 dimensions become uint8 if their operator determines the range: Sigmoid,
 * HardSigmoid, Softmax and Clip (0 is the lowest number, 255 the highest), or Tanh. Outputs listed
 * in `outputs` are converted like the inputs: 255 (y std + mean). Other outputs stay float, with a
 * note.
 */
#include <stdio.h>

#include "base/list.h"
#include "pass/engine/match.h"
#include "pass/engine/pass.h"

enum { MOST = 4, RANK = 4 };

/* one number for each channel, or one for all */
typedef struct numbers {
    double values[MOST];
    uint32_t count;
} numbers;

typedef struct state {
    prt_pass *p;
    numbers mean, std;
    bool given; /* by the options, rather than ImageNet's */
    uint32_t inputs, outputs;
} state;

/* ---- options */

static poprt_status fail_option(const char *option, const char *text, const char *right)
{
    return prt_fail(POPRT_E_ARG, option, "%s '%.100s' is not %s", option, text, right);
}

static poprt_status read_numbers(const prt_pass *p, const char *option, bool positive, numbers *out)
{
    static const char right[] = "one number for all channels, or one for each of up to 4, with "
                                "commas between";
    const char *text = prt_pass_text(p, option), *at = text;
    prt_str item;
    while (prt_list_next(&at, &item)) {
        prt_json *number;
        double value;
        if (prt_json_parse(p->arena, item.data, item.size, &number) != POPRT_OK ||
            !prt_json_f64(number, &value) || out->count == MOST)
            return fail_option(option, text, right);
        if (positive && !(value > 0))
            return fail_option(option, text, "a list of numbers above 0");
        out->values[out->count++] = value;
    }
    return POPRT_OK;
}

static poprt_status read_options(state *s)
{
    static const numbers mean = { { 0.485, 0.456, 0.406 }, 3 },
                         std = { { 0.229, 0.224, 0.225 }, 3 };
    PRT_TRY(read_numbers(s->p, "mean", false, &s->mean));
    PRT_TRY(read_numbers(s->p, "std", true, &s->std));
    s->given = s->mean.count != 0 || s->std.count != 0;
    if (!s->given) {
        s->mean = mean;
        s->std = std;
    }
    if (s->mean.count == 0)
        s->mean = (numbers){ { 0 }, 1 };
    if (s->std.count == 0)
        s->std = (numbers){ { 1 }, 1 };
    if (s->mean.count != 1 && s->std.count != 1 && s->mean.count != s->std.count)
        return prt_fail(POPRT_E_ARG, "std",
            "mean has %u channels and std %u: both need the same number, or one", s->mean.count,
            s->std.count);
    return POPRT_OK;
}

/* Returns the number of channels of an image; 0: 1, 3 or 4 channels. */
static int64_t channels_of(const state *s)
{
    const uint32_t n = s->mean.count > s->std.count ? s->mean.count : s->std.count;
    return n == 1 ? 0 : n;
}

static double of_channel(const numbers *n, int64_t channel)
{
    return n->values[n->count == 1 ? 0 : channel];
}

/* ---- images */

static bool is_count(const state *s, int64_t dim)
{
    const int64_t n = channels_of(s);
    return n != 0 ? dim == n : dim == 1 || dim == 3 || dim == 4;
}

/* Returns the axis of the channels; 0 if the type is not an image. */
static int32_t channel_axis(const state *s, const prt_type *type)
{
    if (!prt_type_is_tensor(type) || type->rank != RANK || !prt_dtype_is_float(type->dtype))
        return 0;
    return is_count(s, type->dims[1]) ? 1 : is_count(s, type->dims[RANK - 1]) ? RANK - 1 : 0;
}

/* Builds a constant with one number for each channel that broadcasts over the image. */
static prt_value *by_channel(prt_build *b, const prt_type *image, int32_t axis,
    const double *values)
{
    const int64_t n = image->dims[axis];
    const int64_t dims[] = { 1, axis == 1 ? n : 1, 1, axis == 1 ? 1 : n };
    unsigned char bytes[MOST * sizeof(double)];
    for (int64_t i = 0; i < n; i++)
        prt_store_f64(image->dtype, bytes, (size_t)i, values[i]);
    return prt_build_tensor(b, image->dtype, RANK, dims, bytes);
}

static prt_value *cast(prt_build *b, prt_value *x, int32_t to)
{
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, to);
    return prt_build_op(b, PRT_OP_cast, &a, 1, &x);
}

static void report_format(const state *s, const char *name, const char *what)
{
    char text[256];
    size_t n = 0;
    const numbers *const lists[] = { &s->mean, &s->std };
    for (int k = 0; k < 2; k++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, k == 0 ? "mean " : "; std ");
        for (uint32_t i = 0; i < lists[k]->count; i++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.6g", i != 0 ? ", " : "",
                lists[k]->values[i]);
    }
    if (s->given)
        prt_pass_note(s->p, name, "%s %s is uint8: %s", what, name, text);
    else
        prt_pass_warn(s->p, name,
            "%s %s is uint8, with the mean and std of ImageNet, since none are given: %s", what,
            name, text);
}

static poprt_status convert_input(const state *s, prt_graph *graph, prt_value *image, int32_t axis)
{
    prt_build b = prt_build_before(graph->first);
    const prt_type *const type = image->type;
    const prt_type *bytes = prt_type_tensor(graph->module->types, PRT_DTYPE_u8, RANK, type->dims);
    double factors[MOST], offsets[MOST];
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    for (int64_t i = 0; i < type->dims[axis]; i++) {
        factors[i] = 1 / (255 * of_channel(&s->std, i));
        offsets[i] = of_channel(&s->mean, i) / of_channel(&s->std, i);
    }
    image->constant = NULL;
    image->content = NULL;
    image->type = bytes;
    prt_value *const x = cast(&b, image, type->dtype);
    prt_value *y = prt_build_binary(&b, PRT_OP_mul, x, by_channel(&b, type, axis, factors));
    y = prt_build_binary(&b, PRT_OP_sub, y, by_channel(&b, type, axis, offsets));
    PRT_TRY(prt_build_status(&b));
    for (prt_use *use = image->uses, *next; use != NULL; use = next) {
        next = use->next;
        if (use->user != x->def)
            prt_op_set_input(use->user, (uint32_t)(use - use->user->in), y);
    }
    report_format(s, image->name.data, "input");
    return POPRT_OK;
}

/* ---- outputs */

/* Returns the range of the results of the op that makes an output; false if the op does not
 * determine it. */
static bool range_of(const prt_op *op, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (prt_op_is(op, PRT_OP_tanh))
        *low = -1;
    if (prt_op_is(op, PRT_OP_clip))
        return prt_match_number(op, 1, low) && prt_match_number(op, 2, high) && *low < *high;
    return prt_op_is(op, PRT_OP_tanh) || prt_op_is(op, PRT_OP_sigmoid) ||
        prt_op_is(op, PRT_OP_hard_sigmoid) || prt_op_is(op, PRT_OP_softmax);
}

/* Builds Cast(Clip(y factor + offset, 0, 255)). The Cast truncates; 0.5 in the offset makes it
 * round. */
static poprt_status convert_output(prt_graph *graph, uint32_t slot, const double *factors,
    const double *offsets, int32_t axis)
{
    prt_value *const y = graph->ret->in[slot].value;
    prt_build b = prt_build_at_end(graph);
    const prt_type *type = y->type;
    prt_value *factor, *offset, *x;
    if (axis != 0) {
        factor = by_channel(&b, type, axis, factors);
        offset = by_channel(&b, type, axis, offsets);
    } else {
        factor = prt_build_scalar(&b, type->dtype, factors[0]);
        offset = prt_build_scalar(&b, type->dtype, offsets[0]);
    }
    x = prt_build_binary(&b, PRT_OP_mul, y, factor);
    x = prt_build_binary(&b, PRT_OP_add, x, offset);
    prt_value *in[3] = { x, prt_build_scalar(&b, type->dtype, 0),
        prt_build_scalar(&b, type->dtype, 255) };
    x = cast(&b, prt_build_op(&b, PRT_OP_clip, NULL, 3, in), PRT_DTYPE_u8);
    PRT_TRY(prt_build_status(&b));
    const prt_str name = graph->output_names.data[slot];
    for (uint32_t i = slot; i < graph->ret->n_in; i++)
        if (prt_str_equal(graph->output_names.data[i], name))
            prt_op_set_input(graph->ret, i, x);
    if (!prt_str_equal(y->name, name) || prt_value_is_output(y))
        return POPRT_OK;
    y->name = PRT_STR("");
    if (y->def != NULL)
        prt_op_touch(y->def);
    prt_for_each_use (use, y)
        prt_op_touch(use->user);
    return prt_value_set_name(x, name);
}

/* Is an earlier output of the same name? The name may be listed several times, for one value. */
static bool is_listed_before(const prt_graph *graph, uint32_t slot)
{
    for (uint32_t i = 0; i < slot; i++)
        if (prt_str_equal(graph->output_names.data[i], graph->output_names.data[slot]))
            return true;
    return false;
}

static poprt_status try_output(state *s, prt_graph *graph, uint32_t slot, bool named)
{
    const prt_value *y = graph->ret->in[slot].value;
    const prt_str listed = graph->output_names.data[slot];
    const char *name = listed.data;
    const int32_t axis = channel_axis(s, y->type);
    double factors[MOST], offsets[MOST], low, high;
    if (named && axis == 0)
        return prt_fail(POPRT_E_SHAPE, name,
            "output '%.200s' is not an image of floats with 4 dimensions and the channels of mean "
            "and std",
            name);
    if (named && prt_value_is_input(y) && prt_str_equal(y->name, listed))
        return prt_fail(POPRT_E_UNSUPPORTED, name,
            "output '%.200s' is an input of the model under the same name, which cannot be both "
            "float and uint8: leave it out of eightbitsio_outputs",
            name);
    if (named) {
        for (int64_t i = 0; i < y->type->dims[axis]; i++) {
            factors[i] = 255 * of_channel(&s->std, i);
            offsets[i] = 255 * of_channel(&s->mean, i) + 0.5;
        }
        PRT_TRY(convert_output(graph, slot, factors, offsets, axis));
        report_format(s, name, "output");
        s->outputs++;
        return POPRT_OK;
    }
    if (!prt_type_is_tensor(y->type) || !prt_dtype_is_float(y->type->dtype))
        return POPRT_OK;
    if (y->type->rank != RANK || y->def == NULL || y->def->def == NULL ||
        !range_of(y->def, &low, &high)) {
        prt_pass_note(s->p, name,
            "output %s stays float: its operator does not limit the range "
            "(Sigmoid, HardSigmoid, Softmax, Tanh, Clip)",
            name);
        return POPRT_OK;
    }
    factors[0] = 255 / (high - low);
    offsets[0] = 0.5 - low * factors[0];
    PRT_TRY(convert_output(graph, slot, factors, offsets, 0));
    prt_pass_note(s->p, name, "output %s is uint8: 0 is %.6g, 255 is %.6g", name, low, high);
    s->outputs++;
    return POPRT_OK;
}

/* ---- the pass */

static poprt_status check_names(const prt_pass *p, const prt_graph *graph)
{
    prt_str name;
    for (const char *cursor = NULL; prt_pass_next(p, "outputs", &cursor, &name);) {
        uint32_t i = 0;
        while (i < graph->ret->n_in && !prt_str_equal(graph->output_names.data[i], name))
            i++;
        if (i == graph->ret->n_in)
            return prt_fail(POPRT_E_NOT_FOUND, "outputs", "the model has no output '%.*s'",
                (int)(name.size < 200 ? name.size : 200), name.data);
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    state s = { .p = p };
    PRT_TRY(read_options(&s));
    PRT_TRY(check_names(p, graph));
    for (size_t i = 0; i < graph->inputs.count && graph->first != NULL; i++) {
        prt_value *v = graph->inputs.data[i];
        const int32_t axis = channel_axis(&s, v->type);
        if (axis == 0 || !prt_value_used(v) || prt_value_is_output(v))
            continue;
        PRT_TRY(convert_input(&s, graph, v, axis));
        s.inputs++;
    }
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        if (!is_listed_before(graph, i))
            PRT_TRY(try_output(&s, graph, i,
                prt_pass_lists(p, "outputs", graph->output_names.data[i])));
    if (s.inputs == 0 && channels_of(&s) != 0)
        prt_pass_warn(p, NULL,
            "no input is an image (float, 4 dimensions, %d channels); give mean "
            "and std for images with another number of channels",
            (int)channels_of(&s));
    else if (s.inputs == 0)
        prt_pass_warn(p, NULL, "no input is an image (float, 4 dimensions, 1, 3 or 4 channels)");
    *changed = *changed || s.inputs + s.outputs != 0;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eight_bits_io = { .run = run };
