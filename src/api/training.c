/* SPDX-License-Identifier: MIT */
/* training.c — poprt_compile_training: a model becomes a training graph, which is compiled. */
#include <stdio.h>
#include <stdlib.h>

#include "api/flow.h"
#include "base/list.h"
#include "poprt/train.h"
#include "train/graph.h"

/* One compilation. */
typedef struct trainer {
    const poprt_env *env;
    prt_training training;
    prt_compile_flow flow;
    prt_arena *arena;
} trainer;

static poprt_status copy_names(prt_arena *arena, size_t n, const char *const *from,
    const char *parameter, const prt_str **out)
{
    prt_str *names = PRT_NEW_N(arena, prt_str, n);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (from[i] == NULL)
            return prt_fail_null(parameter);
        names[i] = prt_str_of(from[i]);
    }
    *out = names;
    return POPRT_OK;
}

static double real_option(const poprt_config *config, prt_option_id id, double initial)
{
    const char *text = prt_config_text(config, id);
    return text[0] != '\0' ? strtod(text, NULL) : initial;
}

static poprt_status check_real(const poprt_config *config, prt_option_id id, double value)
{
    if (value >= 0.0 && value <= 1.0)
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, prt_option_rows[id].info.key, "is '%s'; accepted: 0 to 1",
        prt_config_text(config, id));
}

static poprt_status read_tensors(trainer *t, const char *list)
{
    prt_training_scaling *s = &t->training.scaling;
    prt_str item;
    prt_str *names = PRT_NEW_N(t->arena, prt_str, strlen(list) / 2 + 1);
    s->tensors = names;
    while (names != NULL && prt_list_next(&list, &item)) {
        const char *text = prt_arena_text(t->arena, item.data, item.size);
        if (text == NULL)
            return POPRT_E_NOMEM;
        names[s->n_tensors++] = (prt_str){ text, item.size };
    }
    return names != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Reads whose gradients count: in the order of prt_gradient_tracking. */
static poprt_status read_tracking(trainer *t, const poprt_config *config)
{
    prt_training_scaling *s = &t->training.scaling;
    const char *word = prt_config_text(config, PRT_OPTION_automatic_loss_scaling_tracking);
    s->tracking = strcmp(word, "all") == 0 ? PRT_TRACKING_all
        : strcmp(word, "products") == 0    ? PRT_TRACKING_products
                                           : PRT_TRACKING_tensors;
    PRT_TRY(read_tensors(t, prt_config_text(config, PRT_OPTION_automatic_loss_scaling_tensors)));
    if ((s->tracking == PRT_TRACKING_tensors) == (s->n_tensors != 0))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, "automatic_loss_scaling_tensors",
        s->n_tensors == 0 ? "is empty; automatic_loss_scaling_tracking 'tensors' needs names"
                          : "has names, which need automatic_loss_scaling_tracking 'tensors'");
}

static poprt_status read_scaling(trainer *t, const poprt_config *config)
{
    const double edge =
        real_option(config, PRT_OPTION_automatic_loss_scaling_bin_edge_location, 0.125);
    const double threshold = real_option(config, PRT_OPTION_automatic_loss_scaling_threshold, 1e-7);
    PRT_TRY(check_real(config, PRT_OPTION_automatic_loss_scaling_bin_edge_location, edge));
    PRT_TRY(check_real(config, PRT_OPTION_automatic_loss_scaling_threshold, threshold));
    t->training.scaling.on = prt_config_number(config, PRT_OPTION_automatic_loss_scaling) != 0;
    t->training.scaling.edge = (float)edge;
    PRT_TRY(read_tracking(t, config));
    t->flow.scaling.threshold = (float)threshold;
    t->flow.scaling.period =
        prt_config_number(config, PRT_OPTION_automatic_loss_scaling_update_period);
    return POPRT_OK;
}

static void read_grouping(trainer *t, const poprt_config *config)
{
    static const char *const words[] = { "none", "all", "auto_loose", "auto_tight" };
    const char *word = prt_config_text(config, PRT_OPTION_merge_var_update);
    int grouping = PRT_UPDATE_GROUPING_none;
    for (int i = 0; i < (int)PRT_COUNT_OF(words); i++)
        if (strcmp(word, words[i]) == 0)
            grouping = i;
    t->training.grouping = (prt_update_grouping)grouping;
    t->training.grouping_bytes =
        (uint64_t)prt_config_number(config, PRT_OPTION_merge_var_update_mem_threshold);
}

static poprt_status read_training(trainer *t, const poprt_training *from,
    const poprt_config *config)
{
    prt_training *to = &t->training;
    PRT_TRY(prt_flow_from(from->flow, config, true, &t->flow));
    const prt_flow *f = &t->flow.flow;
    *to = (prt_training){ .loss = prt_str_of(from->loss),
        .optimizer = from->optimizer->inner,
        .context = { .accumulation = f->accumulation,
            .replicas = f->replicas,
            .accumulates = prt_config_number(config, PRT_OPTION_enable_gradient_accumulation) != 0,
            .mean = f->reduction != PRT_REDUCTION_sum,
            .running = f->reduction == PRT_REDUCTION_mean_running },
        .keep_form = prt_config_number(config, PRT_OPTION_keep_model_form) != 0,
        .float_loss = prt_config_number(config, PRT_OPTION_ensure_fp32_loss_scale_tensor) != 0,
        .tree_of_gradients = prt_config_number(config, PRT_OPTION_decompose_grad_sum) != 0,
        .master_weights = prt_config_number(config, PRT_OPTION_master_weights) != 0,
        .pieces = prt_config_number(config, PRT_OPTION_batch_serialization_factor),
        .all_weights = from->weights == NULL,
        .n_weights = (uint32_t)from->weight_count,
        .n_frozen = (uint32_t)from->frozen_count };
    PRT_TRY(copy_names(t->arena, from->weight_count, from->weights, "weights", &to->weights));
    PRT_TRY(copy_names(t->arena, from->frozen_count, from->frozen, "frozen", &to->frozen));
    t->flow.accumulates = to->context.accumulates;
    read_grouping(t, config);
    t->flow.optimizer = prt_optimizer_identity(to->optimizer, t->arena);
    return t->flow.optimizer.data != NULL ? read_scaling(t, config) : POPRT_E_NOMEM;
}

/* Without anchors, a step returns the model's outputs and the loss. */
static poprt_status choose_anchors(trainer *t, const prt_module *module)
{
    const prt_strs outputs = module->main->output_names;
    prt_str *names = PRT_NEW_N(t->arena, prt_str, (size_t)outputs.count + 1);
    prt_anchor *anchors = PRT_NEW_N(t->arena, prt_anchor, (size_t)outputs.count + 1);
    uint32_t n = 0;
    bool has_loss = false;
    if (names == NULL || anchors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < outputs.count; i++) {
        names[n++] = outputs.data[i];
        has_loss = has_loss || prt_str_equal(outputs.data[i], t->training.loss);
    }
    if (!has_loss)
        names[n++] = t->training.loss;
    for (uint32_t i = 0; i < n; i++)
        anchors[i] = (prt_anchor){ PRT_ANCHOR_final, 1 };
    t->flow.n_anchors = n;
    t->flow.anchor_names = names;
    t->flow.anchors = anchors;
    return POPRT_OK;
}

/* Appends a reason and the names for which it holds. */
static size_t put_names(char *text, size_t size, size_t at, const char *reason, size_t n,
    const prt_str *names)
{
    enum { MOST_NAMES = 20 };
    const size_t shown = n < MOST_NAMES ? n : MOST_NAMES;
    for (size_t i = 0; i < shown && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%.*s", i == 0 ? reason : ", ",
            PRT_STR_ARG(names[i]));
    if (shown < n && at < size)
        at += (size_t)snprintf(text + at, size - at, " and %zu more", n - shown);
    return at;
}

/* Tells the log in one warning what training leaves as it is. */
static void warn_unchanged(const poprt_env *env, const prt_training_unchanged *u)
{
    char text[4096] = "training does not change ";
    const size_t first = strlen(text);
    size_t at = put_names(text, sizeof(text), first,
        "weights on which the loss does not depend: ", u->weights.count, u->weights.data);
    at = put_names(text, sizeof(text), at,
        at == first
            ? "tensors of BatchNormalization that are not initializers of the main graph: "
            : "; and tensors of BatchNormalization that are not initializers of the main graph: ",
        u->norms.count, u->norms.data);
    if (at != first)
        prt_env_log(env, PRT_LOG_compile, POPRT_LOG_WARNING, text);
}

static poprt_status edit(void *user, prt_module *module, prt_arena *arena)
{
    trainer *t = user;
    prt_training_result result;
    t->training.without_weights = t->flow.n_anchors != 0;
    if (t->flow.n_anchors == 0)
        PRT_TRY(choose_anchors(t, module));
    t->training.n_anchors = t->flow.n_anchors;
    t->training.anchors = t->flow.anchor_names;
    PRT_TRY(prt_fail_at_stage(prt_training_build(module, &t->training, &result), "train"));
    warn_unchanged(t->env, &result.unchanged);
    t->flow.scaling.counts = result.counts;
    t->flow.scaling.factor = result.factor;
    PRT_TRY(prt_flow_set_outputs(&t->flow, module, arena));
    return prt_ir_verify(module);
}

/* Returns the part of the key of stored executables that is the training's. Of the optimizer, only
 * what is constant counts, but states begin with values that are not. */
static prt_str identity_of(trainer *t)
{
    const prt_str flow = prt_flow_identity(&t->flow, t->arena);
    const prt_training *x = &t->training;
    size_t size = (size_t)flow.size + t->flow.optimizer.size + x->loss.size + 64;
    for (uint32_t i = 0; i < x->n_weights; i++)
        size += (size_t)x->weights[i].size + 8;
    for (uint32_t i = 0; i < x->n_frozen; i++)
        size += (size_t)x->frozen[i].size + 8;
    char *text = prt_arena_alloc(t->arena, size);
    if (text == NULL || flow.data == NULL)
        return (prt_str){ NULL, 0 };
    size_t at = (size_t)snprintf(text, size, "%s%s\nloss %s\nall %d\n", flow.data,
        t->flow.optimizer.data, x->loss.data, x->all_weights);
    for (uint32_t i = 0; i < x->n_weights; i++)
        at += (size_t)snprintf(text + at, size - at, "train %s\n", x->weights[i].data);
    for (uint32_t i = 0; i < x->n_frozen; i++)
        at += (size_t)snprintf(text + at, size - at, "freeze %s\n", x->frozen[i].data);
    return (prt_str){ text, (uint32_t)at };
}

static poprt_status compile(trainer *t, const poprt_model *model, const poprt_training *training,
    const poprt_config *config, poprt_executable **out)
{
    PRT_TRY(read_training(t, training, config));
    const prt_compile_edit how = { .apply = edit,
        .user = t,
        .flow = &t->flow,
        .identity = identity_of(t) };
    if (how.identity.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_compile_module(model->env, model->module, config, &how, out));
    return POPRT_OK;
}

poprt_status poprt_compile_training(const poprt_model *model, const poprt_training *training,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(training);
    PRT_REQUIRE(out);
    poprt_training copy;
    PRT_TRY(prt_import(&copy, sizeof(copy), training, training->struct_size, "training"));
    if (copy.loss == NULL)
        return prt_fail_null("training->loss");
    if (copy.optimizer == NULL)
        return prt_fail_null("training->optimizer");
    if (copy.weight_count > UINT32_MAX || copy.frozen_count > UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, "training", "too many names of weights");
    if (copy.frozen_count != 0 && copy.frozen == NULL)
        return prt_fail_null("training->frozen");
    if (copy.frozen_count != 0 && copy.weights != NULL)
        return prt_fail(POPRT_E_ARG, "training",
            "weights and frozen are both set; one of them may be");
    trainer t = { .env = model->env };
    PRT_TRY(prt_arena_create(&model->env->allocator, 0, &t.arena));
    const poprt_status status = compile(&t, model, &copy, config, out);
    prt_arena_release(t.arena);
    return status;
}
