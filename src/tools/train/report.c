/* SPDX-License-Identifier: MIT */
/* report.c — prints the progress of `poprt train`. */
#include "tools/train/report.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"

void prt_train_report_start(prt_train_report *r, int64_t first, int64_t steps, int64_t per_step)
{
    const double now = prt_tool_now_ms();
    *r = (prt_train_report){ .first = first,
        .steps = steps,
        .per_step = per_step,
        .begun_ms = now,
        .since_ms = now };
}

/* Returns the samples a second since the last report. */
static double speed_of(const prt_train_report *r)
{
    const double ms = prt_tool_now_ms() - r->since_ms;
    return ms > 0 ? (double)(r->count * r->per_step) * 1e3 / ms : 0;
}

void prt_train_report_add(prt_train_report *r, prt_progress *progress, int64_t step, double loss)
{
    r->loss += loss;
    r->count++;
    if (!progress->enabled)
        return;
    (void)snprintf(r->note, sizeof(r->note), "loss %.4g, %.0f samples/s", loss, speed_of(r));
    progress->note = r->note;
    prt_progress_show(progress, "Training", (uint64_t)(step - r->first),
        (uint64_t)(r->steps - r->first));
    progress->note = NULL;
}

void prt_train_report_take(const prt_train_report *r, int64_t step, prt_train_line *line)
{
    *line = (prt_train_line){ .step = step,
        .loss = r->loss / (double)r->count,
        .samples_per_second = speed_of(r) };
}

static void print_text(const prt_train_report *r, const prt_train_line *line)
{
    (void)printf("step %lld of %lld, epoch %.2f: loss %.6g", (long long)line->step,
        (long long)r->steps, line->epoch, line->loss);
    if (!isnan(line->validation_loss))
        (void)printf(", validation loss %.6g", line->validation_loss);
    if (!isnan(line->accuracy))
        (void)printf(", accuracy %.2f %%", 100 * line->accuracy);
    (void)printf(", learning rate %.4g, %.0f samples/s\n", line->rate, line->samples_per_second);
}

static poprt_status print_json(const prt_train_report *r, prt_arena *arena,
    const prt_train_line *line)
{
    prt_json_out json;
    prt_str text;
    prt_json_out_init(&json, arena, false);
    prt_json_open(&json, NULL, '{');
    prt_json_put_i64(&json, "step", line->step);
    prt_json_put_i64(&json, "steps", r->steps);
    prt_json_put_f64(&json, "epoch", line->epoch);
    prt_json_put_f64(&json, "loss", line->loss);
    if (!isnan(line->validation_loss))
        prt_json_put_f64(&json, "validation_loss", line->validation_loss);
    if (!isnan(line->accuracy))
        prt_json_put_f64(&json, "accuracy", line->accuracy);
    prt_json_put_f64(&json, "learning_rate", line->rate);
    prt_json_put_f64(&json, "samples_per_second", line->samples_per_second);
    prt_json_close(&json, '}');
    PRT_TRY(prt_json_out_finish(&json, &text));
    (void)printf("%.*s\n", PRT_STR_ARG(text));
    return POPRT_OK;
}

poprt_status prt_train_report_print(const prt_train_report *r, prt_arena *arena,
    const prt_train_line *line, bool json)
{
    if (json)
        PRT_TRY(print_json(r, arena, line));
    else
        print_text(r, line);
    (void)fflush(stdout); /* a log file shows each report at once */
    return POPRT_OK;
}

void prt_train_report_restart(prt_train_report *r)
{
    r->loss = 0;
    r->count = 0;
    r->since_ms = prt_tool_now_ms();
}

void prt_train_report_end(const prt_train_report *r, int64_t done, const char *output)
{
    (void)printf("trained %lld steps in %.1f s", (long long)done,
        (prt_tool_now_ms() - r->begun_ms) / 1e3);
    if (output != NULL)
        (void)printf("; wrote %s", output);
    (void)printf("\n");
}
