/* SPDX-License-Identifier: MIT */
/* curve.c — draws losses over steps. The axis of losses is logarithmic if all are above 0. */
#define _POSIX_C_SOURCE 200809L
#include "tools/train/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/plot.h"
#include "tools/common/tool.h"

typedef struct drawing {
    FILE *to;
    const prt_train_point *points;
    size_t count;
} drawing;

static double training_loss(const void *user, size_t i, double *x)
{
    const drawing *d = user;
    *x = (double)d->points[i].step;
    return d->points[i].loss;
}

static double validation_loss(const void *user, size_t i, double *x)
{
    const drawing *d = user;
    *x = (double)d->points[i].step;
    return d->points[i].validation_loss;
}

static void find_range(const drawing *d, prt_plot *plot)
{
    plot->logarithmic = true;
    for (size_t i = 0; i < d->count; i++)
        plot->logarithmic =
            plot->logarithmic && !(d->points[i].loss <= 0) && !(d->points[i].validation_loss <= 0);
    prt_plot_clear_range(plot);
    for (size_t i = 0; i < d->count; i++) {
        prt_plot_include(plot, d->points[i].loss);
        prt_plot_include(plot, d->points[i].validation_loss);
    }
    prt_plot_finish_range(plot);
    const int64_t last = d->count != 0 ? d->points[d->count - 1].step : 0;
    plot->last = last > 0 ? (double)last : 1;
}

/* The first line of the comment with the points; each is a line of three numbers. */
#define COMMENT "<!-- step, training loss, validation loss\n"

static void write_points(const drawing *d)
{
    (void)fprintf(d->to, COMMENT);
    for (size_t i = 0; i < d->count; i++)
        (void)fprintf(d->to, "%lld %.17g %.17g\n", (long long)d->points[i].step, d->points[i].loss,
            d->points[i].validation_loss);
    (void)fprintf(d->to, "-->\n");
}

static void draw(const drawing *d)
{
    prt_plot plot = { .to = d->to, .title = "Loss over the steps of training", .x_label = "step" };
    find_range(d, &plot);
    prt_plot_open(&plot);
    write_points(d);
    prt_plot_line(&plot, d->count, training_loss, d, "training loss", "#1f6fb4", 1);
    prt_plot_line(&plot, d->count, validation_loss, d, "validation loss", "#d9541e", 2);
    prt_plot_close(&plot);
}

poprt_status prt_train_curve_write(const prt_train_point *points, size_t count, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    drawing d = { .to = open_memstream(&text, &size), .points = points, .count = count };
    if (d.to == NULL)
        return prt_fail_nomem(0);
    draw(&d);
    const bool good = ferror(d.to) == 0;
    poprt_status status = POPRT_OK;
    if (fclose(d.to) != 0 || !good)
        status = prt_fail_nomem(0);
    if (status == POPRT_OK)
        status = prt_tool_save(path, text, size);
    free(text);
    return status;
}

poprt_status prt_train_curve_read(const char *path, int64_t last, prt_arena *arena,
    prt_train_points *out)
{
    FILE *from = fopen(path, "r");
    char line[256];
    bool reads = false;
    poprt_status status = POPRT_OK;
    while (from != NULL && status == POPRT_OK && fgets(line, sizeof(line), from) != NULL) {
        char *end = line;
        const int64_t step = reads ? strtoll(line, &end, 10) : 0;
        if (reads && end == line)
            break;
        const double loss = strtod(end, &end), validation = strtod(end, &end);
        const prt_train_point point = { step, loss, validation };
        if (reads && step <= last && !PRT_VEC_PUSH(arena, out, point))
            status = POPRT_E_NOMEM;
        reads = reads || strcmp(line, COMMENT) == 0;
    }
    if (from != NULL)
        (void)fclose(from);
    return status;
}
