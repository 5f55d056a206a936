/* SPDX-License-Identifier: MIT */
/* loss.c — adds a loss to a model: SoftmaxCrossEntropyLoss, or the mean of squared differences. */
#include "tools/train/loss.h"

#include "ir/build.h"
#include "ir/not_found.h"

poprt_status prt_train_split_pair(prt_arena *arena, const char *option, const char *text,
    const char **first, const char **second)
{
    const char *comma = strrchr(text, ',');
    if (comma == NULL || comma == text || comma[1] == '\0')
        return prt_fail(POPRT_E_ARG, option, "'%s' must name two tensors: OUTPUT,ARRAY", text);
    *first = prt_arena_text(arena, text, (size_t)(comma - text));
    *second = prt_arena_text(arena, comma + 1, strlen(comma + 1));
    return *first != NULL && *second != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Returns the tensor of a name: an output of the main graph, or one of its values. */
static poprt_status find_tensor(const prt_module *module, const char *name, prt_value **out)
{
    const prt_graph *g = module->main;
    for (uint32_t i = 0; i < g->output_names.count; i++)
        if (prt_str_is(g->output_names.data[i], name)) {
            *out = g->ret->in[i].value;
            return POPRT_OK;
        }
    prt_value *v = prt_map_find(&module->names, prt_str_of(name));
    if (v == NULL || v->graph != g)
        return prt_fail_no_tensor(g, prt_str_of(name));
    *out = v;
    return POPRT_OK;
}

/* Returns the input of a name. Adds it if the model does not have it: dimension 0 is that of
 * `like`, the others are those of the data. */
static poprt_status find_input(prt_module *module, const char *name, const prt_value *like,
    const prt_train_data *data, prt_value **out)
{
    const prt_tensor *array = NULL;
    int64_t dims[PRT_MAX_RANK];
    prt_value *v = prt_map_find(&module->names, prt_str_of(name));
    if (v != NULL && v->graph == module->main) {
        *out = v;
        return POPRT_OK;
    }
    PRT_TRY(prt_train_data_find(data, prt_str_of(name), "read by the loss", &array));
    if (like->type->rank < 1)
        return prt_fail(POPRT_E_SHAPE, like->name.data,
            "the loss reads this tensor, which has no dimension for the samples of a batch");
    memcpy(dims, array->dims, sizeof(dims));
    dims[0] = like->type->dims[0];
    const prt_type *type = prt_type_tensor(module->types, array->dtype, (int32_t)array->rank, dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    *out = prt_graph_add_input(module->main, prt_str_of(name), type);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Labels may be integers of any type; the operator reads int32 and int64. */
static prt_value *add_cross_entropy(prt_build *b, prt_value *scores, prt_value *labels)
{
    prt_value *index = labels;
    if (prt_dtype_is_integer(labels->type->dtype) && labels->type->dtype != PRT_DTYPE_i32 &&
        labels->type->dtype != PRT_DTYPE_i64) {
        prt_cast_attrs a = PRT_ATTRS_OF(cast);
        PRT_ATTR_SET(a, cast, to, PRT_DTYPE_i64);
        index = prt_build_op(b, PRT_OP_cast, &a, 1, &labels);
    }
    return prt_build_binary(b, PRT_OP_softmax_cross_entropy_loss, scores, index);
}

static prt_value *add_mse(prt_build *b, prt_value *output, prt_value *target)
{
    prt_reduce_mean_attrs a = PRT_ATTRS_OF(reduce_mean);
    PRT_ATTR_SET(a, reduce_mean, keepdims, 0);
    prt_value *error = prt_build_binary(b, PRT_OP_sub, output, target);
    prt_value *square = prt_build_binary(b, PRT_OP_mul, error, error);
    return prt_build_op(b, PRT_OP_reduce_mean, &a, 1, &square);
}

poprt_status prt_train_loss_add(prt_arena *arena, const prt_train_data *data, poprt_model *model,
    prt_train_loss *loss)
{
    prt_module *m = model->module;
    prt_value *x = NULL, *y = NULL;
    if (loss->kind == PRT_LOSS_TENSOR)
        return POPRT_OK;
    PRT_TRY(find_tensor(m, loss->output, &x));
    PRT_TRY(find_input(m, loss->target, x, data, &y));
    prt_build b = prt_build_at_end(m->main);
    b.origin = PRT_STR("--loss");
    prt_value *added = loss->kind == PRT_LOSS_MSE ? add_mse(&b, x, y) : add_cross_entropy(&b, x, y);
    PRT_TRY(prt_build_status(&b));
    const prt_str name = prt_module_fresh_name(m, "loss");
    if (name.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_value_set_name(added, name));
    loss->tensor = prt_arena_text(arena, name.data, name.size);
    return loss->tensor != NULL ? prt_model_refresh(model) : POPRT_E_NOMEM;
}

poprt_status prt_train_loss_read(prt_arena *arena, const char *text, prt_train_loss *out)
{
    static const char cross_entropy[] = "cross_entropy:", mse[] = "mse:";
    *out = (prt_train_loss){ .kind = PRT_LOSS_TENSOR };
    if (strncmp(text, cross_entropy, sizeof(cross_entropy) - 1) == 0) {
        out->kind = PRT_LOSS_CROSS_ENTROPY;
        text += sizeof(cross_entropy) - 1;
    } else if (strncmp(text, mse, sizeof(mse) - 1) == 0) {
        out->kind = PRT_LOSS_MSE;
        text += sizeof(mse) - 1;
    } else {
        out->tensor = text;
        return POPRT_OK;
    }
    return prt_train_split_pair(arena, "--loss", text, &out->output, &out->target);
}
