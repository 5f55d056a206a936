/* SPDX-License-Identifier: MIT */
/* loop.c — steps, reports, checkpoints and the end of training. */
#define _DEFAULT_SOURCE
#include "tools/train/loop.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "num/dtype.h"
#include "poprt/train.h"
#include "tools/train/curve.h"
#include "tools/train/report.h"
#include "tools/train/validate.h"

enum { DEFAULT_BATCH = 32 };

typedef struct trainer {
    prt_tool *tool;
    prt_train_settings *s;
    prt_train_data data;
    prt_train_validator validator;
    bool validates;
    poprt_model *model;     /* as it was read */
    poprt_model *with_loss; /* with the loss, its batch open */
    poprt_session *session;
    poprt_stepio *io;
    void **buffers;   /* a step's samples of each column */
    int64_t *order;   /* of the samples of `epoch` */
    int64_t epoch;    /* -1: none yet */
    int64_t per_step; /* samples of a step */
    int64_t steps_per_epoch;
    int64_t first; /* step that this process begins with */
    bool finished;
    prt_train_report report;
    prt_train_points points;
} trainer;

/* ---- signals: a step is finished, then the checkpoint is written */

static volatile sig_atomic_t stopped_by;

static const int signals[] = { SIGINT, SIGTERM };
enum { N_SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static void stop(int signal)
{
    stopped_by = signal;
}

/* The second signal ends the process, because the action is reset. A signal that the parent lets
 * the process ignore stays ignored. */
static void catch_signals(struct sigaction *old)
{
    struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };
    (void)sigemptyset(&action.sa_mask);
    stopped_by = 0;
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &old[i]) == 0 && old[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
}

static void restore_signals(const struct sigaction *old)
{
    for (size_t i = 0; i < N_SIGNALS; i++)
        (void)sigaction(signals[i], &old[i], NULL);
}

/* ---- preparation */

static poprt_status set_option(prt_tool *tool, const char *key, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    return poprt_config_set(tool->config, key, text);
}

/* Gradients of micro-batches and replicas are averaged, unless --set says otherwise. */
static poprt_status set_flow_options(const trainer *t)
{
    if (t->s->accumulate > 1) {
        PRT_TRY(poprt_config_set(t->tool->config, "enable_gradient_accumulation", "true"));
        PRT_TRY(set_option(t->tool, "accumulation_factor", t->s->accumulate));
    }
    if (t->s->replicas > 1) {
        PRT_TRY(poprt_config_set(t->tool->config, "enable_replicated_graphs", "true"));
        PRT_TRY(set_option(t->tool, "replicated_graph_count", t->s->replicas));
    }
    return POPRT_OK;
}

static poprt_status choose_batch(trainer *t)
{
    prt_train_settings *s = t->s;
    if (t->data.batch > 0 && s->batch != 0 && s->batch != t->data.batch)
        return prt_fail(POPRT_E_SHAPE, "--batch",
            "is %lld, but the model accepts only %lld samples at a time", (long long)s->batch,
            (long long)t->data.batch);
    if (s->batch == 0)
        s->batch = t->data.batch > 0 ? t->data.batch : DEFAULT_BATCH;
    const double samples = (double)s->batch * (double)s->accumulate * (double)s->replicas;
    if (samples > (double)t->data.count)
        return prt_fail_in_file(
            prt_fail(POPRT_E_SHAPE, NULL,
                "there are %lld samples, and a step needs %.0f (--batch %lld, --accumulate %lld, "
                "--replicas %lld)",
                (long long)t->data.count, samples, (long long)s->batch, (long long)s->accumulate,
                (long long)s->replicas),
            s->data);
    t->per_step = s->batch * s->accumulate * s->replicas;
    t->steps_per_epoch = t->data.count / t->per_step;
    if (s->epochs > INT64_MAX / t->steps_per_epoch)
        return prt_fail(POPRT_E_LIMIT, "--epochs", "%lld epochs have too many steps",
            (long long)s->epochs);
    if (s->steps == 0)
        s->steps = s->epochs * t->steps_per_epoch;
    if (s->every == 0)
        s->every = t->steps_per_epoch;
    return POPRT_OK;
}

static poprt_status read_model(trainer *t)
{
    const char *path = NULL;
    bool is_popef = false;
    PRT_TRY(prt_tool_find_model(t->tool, t->s->model, &path, &is_popef));
    if (is_popef)
        return prt_fail(POPRT_E_UNSUPPORTED, path,
            "a PopEF file has no graph to train; an ONNX file is accepted");
    PRT_TRY(poprt_model_load_file(t->tool->env, path, t->tool->config, &t->model));
    PRT_TRY(poprt_model_clone(t->model, &t->with_loss));
    PRT_TRY(prt_train_data_open(t->s->data, &t->data));
    PRT_TRY(prt_train_loss_add(t->tool->arena, &t->data, t->with_loss, &t->s->loss));
    PRT_TRY(prt_train_data_match(&t->data, t->tool->arena, t->with_loss));
    return choose_batch(t);
}

static poprt_status open_validation(trainer *t)
{
    const prt_train_settings *s = t->s;
    if (s->validation == NULL)
        return POPRT_OK;
    const bool from_loss = s->scores == NULL && s->loss.kind == PRT_LOSS_CROSS_ENTROPY;
    t->validator = (prt_train_validator){ .tool = t->tool,
        .model = t->with_loss,
        .loss = s->loss.tensor,
        .batch = s->batch,
        .scores = from_loss ? s->loss.output : s->scores,
        .labels = from_loss ? s->loss.target : s->labels };
    PRT_TRY(prt_train_validator_open(&t->validator, s->validation));
    t->validates = true;
    return POPRT_OK;
}

static poprt_status compile_with(const trainer *t, const poprt_model *model, poprt_flow *flow,
    poprt_executable **out)
{
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = t->s->loss.tensor,
        .optimizer = t->s->optimizer,
        .flow = flow,
        .frozen = t->s->frozen,
        .frozen_count = t->s->n_frozen };
    PRT_TRY(poprt_flow_anchor(flow, t->s->loss.tensor, POPRT_ANCHOR_SUM, 0));
    return poprt_compile_training(model, &training, t->tool->config, out);
}

static poprt_status compile(const trainer *t, poprt_executable **out)
{
    poprt_model *model = NULL;
    poprt_flow *flow = NULL;
    PRT_TRY(set_flow_options(t));
    PRT_TRY(poprt_model_clone(t->with_loss, &model));
    poprt_status status = prt_train_data_set_shapes(&t->data, t->s->batch, model);
    if (status == POPRT_OK)
        status = poprt_flow_create(t->tool->env, 1, &flow);
    if (status == POPRT_OK)
        status = compile_with(t, model, flow, out);
    poprt_flow_release(flow);
    poprt_model_release(model);
    return status;
}

static poprt_status create_session(trainer *t)
{
    poprt_executable *exec = NULL;
    PRT_TRY(compile(t, &exec));
    poprt_status status = poprt_session_create(exec, t->tool->config, &t->session);
    poprt_executable_release(exec);
    if (status == POPRT_OK)
        status = poprt_stepio_create(t->session, &t->io);
    t->tool->quiet_compile = true; /* validation compiles too */
    return status;
}

/* Allocates the samples of a step and binds them to the inputs. */
static poprt_status bind_inputs(trainer *t)
{
    t->order = PRT_NEW_N(t->tool->arena, int64_t, (size_t)t->data.count);
    t->buffers = PRT_NEW_N(t->tool->arena, void *, t->data.n_columns);
    t->epoch = -1;
    if (t->order == NULL || t->buffers == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < t->data.n_columns; i++) {
        const prt_train_column *c = &t->data.columns[i];
        int64_t dims[PRT_MAX_RANK];
        poprt_tensor rows = prt_train_data_rows(c, 0, t->per_step, dims);
        t->buffers[i] = prt_arena_alloc(t->tool->arena, rows.size);
        if (t->buffers[i] == NULL)
            return POPRT_E_NOMEM;
        rows.data = t->buffers[i];
        PRT_TRY(poprt_stepio_bind(t->io, c->name, &rows));
    }
    return POPRT_OK;
}

/* ---- checkpoints */

static poprt_status continue_from_checkpoint(trainer *t)
{
    prt_train_settings *s = t->s;
    poprt_train_progress progress = { .struct_size = sizeof(progress) };
    PRT_TRY(poprt_session_load_checkpoint(t->session, s->checkpoint));
    PRT_TRY(poprt_session_get_progress(t->session, &progress));
    if (s->has_seed && s->seed != progress.seed)
        return prt_fail(POPRT_E_ARG, "--seed",
            "is %llu, but the checkpoint has the seed %llu; --resume continues with that",
            (unsigned long long)s->seed, (unsigned long long)progress.seed);
    s->seed = progress.seed;
    t->first = (int64_t)progress.updates;
    if (t->first > s->steps)
        return prt_fail(POPRT_E_ARG, s->checkpoint,
            "the checkpoint has %lld steps, and training ends after %lld", (long long)t->first,
            (long long)s->steps);
    return s->curve != NULL ? prt_train_curve_read(s->curve, t->first, t->tool->arena, &t->points)
                            : POPRT_OK;
}

/* Sets the first step and the seed. */
static poprt_status start(trainer *t)
{
    const prt_train_settings *s = t->s;
    struct stat st;
    if (s->checkpoint == NULL)
        return poprt_session_set_random_seed(t->session, s->seed);
    const bool exists = stat(s->checkpoint, &st) == 0;
    if (!exists && errno != ENOENT)
        return prt_fail(POPRT_E_IO, s->checkpoint, "%s", strerror(errno));
    if (exists && !s->resume)
        return prt_fail(POPRT_E_ARG, s->checkpoint,
            "the checkpoint exists already; --resume continues from it, and another name or its "
            "removal begins anew");
    if (exists)
        return continue_from_checkpoint(t);
    if (s->resume)
        prt_tool_say(t->tool, POPRT_LOG_INFO, "%s does not exist yet: training begins at step 0",
            s->checkpoint);
    return poprt_session_set_random_seed(t->session, s->seed);
}

static poprt_status save_checkpoint(trainer *t)
{
    if (t->s->checkpoint == NULL)
        return POPRT_OK;
    return poprt_session_save_checkpoint(t->session, t->s->checkpoint, (int32_t)t->s->keep);
}

/* ---- steps */

static void fill_buffers(trainer *t, int64_t step)
{
    const int64_t epoch = step / t->steps_per_epoch;
    const int64_t *order = t->order + step % t->steps_per_epoch * t->per_step;
    if (epoch != t->epoch)
        prt_train_data_order(t->order, t->data.count, t->s->shuffle, t->s->seed, (uint64_t)epoch);
    t->epoch = epoch;
    for (uint32_t i = 0; i < t->data.n_columns; i++)
        prt_train_data_gather(&t->data.columns[i], order, t->per_step, t->buffers[i]);
}

/* Runs a step and adds the mean loss of its micro-batches to the report. */
static poprt_status do_step(trainer *t, int64_t step)
{
    const prt_train_settings *s = t->s;
    poprt_tensor losses;
    double sum = 0;
    fill_buffers(t, step);
    PRT_TRY(prt_train_schedule_apply(&s->schedule, s->optimizer, step, s->steps, t->session));
    PRT_TRY(poprt_session_run(t->session, t->io));
    PRT_TRY(poprt_stepio_output(t->io, t->data.n_columns, &losses));
    for (int64_t r = 0; r < s->replicas; r++)
        sum += prt_load_f64(losses.dtype, losses.data, (size_t)r);
    const double loss = sum / (double)(s->replicas * s->accumulate);
    if (!isfinite(loss))
        return prt_fail(POPRT_E_STATE, s->loss.tensor,
            "the loss is not finite in step %lld; a lower learning rate, --schedule with --warmup, "
            "or clip in --optimizer may help",
            (long long)step + 1);
    prt_train_report_add(&t->report, &t->tool->progress, step + 1, loss);
    return POPRT_OK;
}

/* Validates, writes the curve and the checkpoint, and prints the report. */
static poprt_status report(trainer *t, int64_t step)
{
    prt_train_line line;
    prt_train_quality quality = { (double)NAN, (double)NAN };
    prt_train_report_take(&t->report, step, &line);
    line.rate = (double)prt_train_schedule_rate(&t->s->schedule, step - 1, t->s->steps);
    line.epoch = (double)step / (double)t->steps_per_epoch;
    if (t->validates)
        PRT_TRY(prt_train_validate(&t->validator, t->session, &quality));
    line.validation_loss = quality.loss;
    line.accuracy = quality.accuracy;
    const prt_train_point point = { step, line.loss, quality.loss };
    if (!PRT_VEC_PUSH(t->tool->arena, &t->points, point))
        return POPRT_E_NOMEM;
    if (t->s->curve != NULL)
        PRT_TRY(prt_train_curve_write(t->points.data, t->points.count, t->s->curve));
    PRT_TRY(save_checkpoint(t));
    prt_progress_hide(&t->tool->progress);
    PRT_TRY(prt_train_report_print(&t->report, t->tool->arena, &line, t->s->json));
    prt_train_report_restart(&t->report);
    return POPRT_OK;
}

static poprt_status run_steps(trainer *t, int64_t *done)
{
    const prt_train_settings *s = t->s;
    prt_train_report_start(&t->report, t->first, s->steps, t->per_step);
    for (int64_t step = t->first; step < s->steps && stopped_by == 0; step++) {
        PRT_TRY(do_step(t, step));
        *done = step + 1;
        if (*done % s->every == 0 || *done == s->steps || stopped_by != 0)
            PRT_TRY(report(t, *done));
    }
    return POPRT_OK;
}

static poprt_status save_output(const trainer *t)
{
    poprt_model *model = NULL;
    if (t->s->output == NULL)
        return POPRT_OK;
    PRT_TRY(poprt_session_export_model(t->session, t->model, 0, &model));
    const poprt_status status = poprt_model_save_file(model, t->s->output);
    poprt_model_release(model);
    return status;
}

static poprt_status train(trainer *t)
{
    int64_t done = 0;
    struct sigaction old[N_SIGNALS];
    PRT_TRY(read_model(t));
    PRT_TRY(open_validation(t));
    PRT_TRY(create_session(t));
    PRT_TRY(bind_inputs(t));
    PRT_TRY(start(t));
    done = t->first;
    catch_signals(old);
    const poprt_status status = run_steps(t, &done);
    restore_signals(old);
    PRT_TRY(status);
    prt_progress_clear(&t->tool->progress);
    if (done < t->s->steps) {
        prt_tool_say(t->tool, POPRT_LOG_INFO, "stopped after step %lld of %lld%s%s",
            (long long)done, (long long)t->s->steps,
            done > 0 && t->s->checkpoint != NULL ? "; --resume continues from " : "",
            done > 0 && t->s->checkpoint != NULL ? t->s->checkpoint : "");
        return POPRT_OK;
    }
    t->finished = true;
    PRT_TRY(save_output(t));
    if (!t->s->json)
        prt_train_report_end(&t->report, done - t->first, t->s->output);
    return POPRT_OK;
}

poprt_status prt_train_run(prt_tool *tool, prt_train_settings *settings, int *signal)
{
    trainer t = { .tool = tool, .s = settings };
    const poprt_status status = train(&t);
    *signal = t.finished ? 0 : stopped_by;
    poprt_stepio_release(t.io);
    poprt_session_release(t.session);
    if (t.validates)
        prt_train_validator_close(&t.validator);
    prt_train_data_close(&t.data);
    poprt_model_release(t.with_loss);
    poprt_model_release(t.model);
    return status;
}
