/* SPDX-License-Identifier: MIT */
/*
 * validate.c — validation. The model is compiled for inference each time, so that it has the
 * optimisations of inference, and the training session keeps nothing for it.
 */
#include "tools/train/validate.h"

#include <math.h>

#include "num/dtype.h"
#include "poprt/train.h"

/* A model with the weights of a session, and a session that runs it. */
typedef struct trial {
    const prt_train_validator *v;
    poprt_session *session;
    poprt_stepio *io;
    double loss; /* sum over samples */
    uint64_t right, labels;
} trial;

static poprt_status check(prt_train_validator *v)
{
    PRT_TRY(prt_train_data_match(&v->data, v->tool->arena, v->model));
    if (v->data.batch > 0 && v->data.count % v->data.batch != 0)
        return prt_fail_in_file(
            prt_fail(POPRT_E_SHAPE, NULL,
                "there are %lld samples; the model accepts only multiples of %lld, its batch",
                (long long)v->data.count, (long long)v->data.batch),
            v->data.path);
    if (v->data.batch > 0)
        v->batch = v->data.batch;
    if (v->labels == NULL)
        return POPRT_OK;
    PRT_TRY(prt_train_data_find(&v->data, prt_str_of(v->labels), "the labels of the accuracy",
        &v->truth));
    if (prt_dtype_is_integer(v->truth->dtype))
        return POPRT_OK;
    return prt_fail_in_file(prt_fail(POPRT_E_TYPE, v->labels,
                                "the labels have elements of type %s; integers are accepted",
                                prt_dtype_of(v->truth->dtype)->name),
        v->data.path);
}

poprt_status prt_train_validator_open(prt_train_validator *v, const char *path)
{
    PRT_TRY(prt_train_data_open(path, &v->data));
    const poprt_status status = check(v);
    if (status != POPRT_OK)
        prt_train_validator_close(v);
    return status;
}

void prt_train_validator_close(prt_train_validator *v)
{
    prt_train_data_close(&v->data);
}

static poprt_status compile(const prt_train_validator *v, const poprt_model *model,
    poprt_executable **out)
{
    poprt_flow *flow = NULL;
    PRT_TRY(poprt_flow_create(v->tool->env, 1, &flow));
    poprt_status status = poprt_flow_anchor(flow, v->loss, POPRT_ANCHOR_FINAL, 0);
    if (status == POPRT_OK && v->scores != NULL)
        status = poprt_flow_anchor(flow, v->scores, POPRT_ANCHOR_FINAL, 0);
    if (status == POPRT_OK)
        status = poprt_compile_flow(model, flow, NULL, out);
    poprt_flow_release(flow);
    return status;
}

/* Counts the labels of a batch whose score is the largest. Scores are [samples, classes, ...]. */
static poprt_status count_right(trial *t, const poprt_tensor *scores, int64_t first, int64_t count)
{
    const prt_tensor *truth = t->v->truth;
    const size_t each = prt_dims_product(truth->dims, 1, truth->rank);
    if (scores->rank < 2 || scores->dims[0] != count ||
        prt_dims_product(scores->dims, 2, scores->rank) != each)
        return prt_fail(POPRT_E_SHAPE, t->v->scores,
            "the accuracy needs scores of the shape [samples, classes, ...] with one label for "
            "each row of classes; '%s' has %zu labels for a sample",
            t->v->labels, each);
    const size_t classes = (size_t)scores->dims[1];
    for (size_t i = 0; i < (size_t)count * each; i++) {
        const size_t at = i / each * classes * each + i % each;
        size_t best = 0;
        for (size_t c = 1; c < classes; c++)
            if (prt_load_f64(scores->dtype, scores->data, at + c * each) >
                prt_load_f64(scores->dtype, scores->data, at + best * each))
                best = c;
        t->right +=
            prt_load_i64(truth->dtype, truth->data, (size_t)first * each + i) == (int64_t)best;
        t->labels++;
    }
    return POPRT_OK;
}

static poprt_status run_batch(trial *t, int64_t first, int64_t count)
{
    const prt_train_data *data = &t->v->data;
    poprt_tensor loss, scores;
    for (uint32_t i = 0; i < data->n_columns; i++) {
        int64_t dims[PRT_MAX_RANK];
        const poprt_tensor rows = prt_train_data_rows(&data->columns[i], first, count, dims);
        PRT_TRY(poprt_stepio_bind(t->io, data->columns[i].name, &rows));
    }
    PRT_TRY(poprt_session_run(t->session, t->io));
    PRT_TRY(poprt_stepio_output(t->io, data->n_columns, &loss));
    t->loss += prt_load_f64(loss.dtype, loss.data, 0) * (double)count;
    if (t->v->truth == NULL)
        return POPRT_OK;
    PRT_TRY(poprt_stepio_output(t->io, data->n_columns + 1, &scores));
    return count_right(t, &scores, first, count);
}

static poprt_status run_all(trial *t, prt_train_quality *out)
{
    const int64_t total = t->v->data.count;
    for (int64_t first = 0; first < total; first += t->v->batch)
        PRT_TRY(run_batch(t, first, total - first < t->v->batch ? total - first : t->v->batch));
    *out = (prt_train_quality){ t->loss / (double)total,
        t->labels != 0 ? (double)t->right / (double)t->labels : (double)NAN };
    return POPRT_OK;
}

poprt_status prt_train_validate(const prt_train_validator *v, poprt_session *session,
    prt_train_quality *out)
{
    trial t = { .v = v };
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    PRT_TRY(poprt_session_export_model(session, v->model, 0, &model));
    poprt_status status = prt_train_data_set_shapes(&v->data, -1, model);
    if (status == POPRT_OK)
        status = compile(v, model, &exec);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, v->tool->config, &t.session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(t.session, &t.io);
    if (status == POPRT_OK)
        status = run_all(&t, out);
    poprt_stepio_release(t.io);
    poprt_session_release(t.session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return prt_fail_at_stage(status, "validate");
}
