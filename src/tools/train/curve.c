/* SPDX-License-Identifier: MIT */
/* curve.c — draws losses over steps. The axis of losses is logarithmic if all are above 0. */
#define _POSIX_C_SOURCE 200809L
#include "tools/train/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/tool.h"

/* Pixels of the image, and of the rectangle between the axes. */
enum { WIDTH = 640, HEIGHT = 400, LEFT = 70, RIGHT = 620, TOP = 20, BOTTOM = 350, TICKS = 5 };

typedef struct drawing {
    FILE *to;
    const prt_train_point *points;
    size_t count;
    bool logarithmic;
    double low, high; /* range of losses, as logarithms if `logarithmic` */
    int64_t last;     /* last step */
} drawing;

static double scaled(const drawing *d, double loss)
{
    return d->logarithmic ? log10(loss) : loss;
}

static void include_loss(drawing *d, double loss)
{
    if (!isfinite(loss))
        return;
    d->low = fmin(d->low, scaled(d, loss));
    d->high = fmax(d->high, scaled(d, loss));
}

static void find_range(drawing *d)
{
    d->logarithmic = true;
    for (size_t i = 0; i < d->count; i++)
        d->logarithmic =
            d->logarithmic && !(d->points[i].loss <= 0) && !(d->points[i].validation_loss <= 0);
    d->low = (double)INFINITY;
    d->high = -(double)INFINITY;
    for (size_t i = 0; i < d->count; i++) {
        include_loss(d, d->points[i].loss);
        include_loss(d, d->points[i].validation_loss);
    }
    if (!(d->low <= d->high))
        d->low = d->high = 0;
    if (d->high - d->low < 1e-9) {
        d->low -= 0.5;
        d->high += 0.5;
    }
    d->last = d->count != 0 && d->points[d->count - 1].step > 0 ? d->points[d->count - 1].step : 1;
}

static double x_of(const drawing *d, double step)
{
    return LEFT + (RIGHT - LEFT) * step / (double)d->last;
}

static double y_of(const drawing *d, double value)
{
    return BOTTOM - (BOTTOM - TOP) * (value - d->low) / (d->high - d->low);
}

static void draw_axes(const drawing *d)
{
    for (int i = 0; i < TICKS; i++) {
        const double part = (double)i / (TICKS - 1), value = d->low + part * (d->high - d->low);
        const double step = floor(part * (double)d->last);
        (void)fprintf(d->to,
            "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            LEFT, y_of(d, value), RIGHT, LEFT - 8, y_of(d, value) + 4,
            d->logarithmic ? pow(10, value) : value, x_of(d, step), BOTTOM + 18, step);
    }
    (void)fprintf(d->to,
        "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333\"/>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n",
        LEFT, TOP, BOTTOM, RIGHT, (LEFT + RIGHT) / 2, HEIGHT - 10);
}

/* Draws one of the two losses, and its line of the legend, unless it has no values. */
static void draw_losses(const drawing *d, size_t member, const char *name, const char *colour,
    int line)
{
    size_t drawn = 0;
    for (size_t i = 0; i < d->count; i++) {
        const double loss = *(const double *)(const void *)((const char *)&d->points[i] + member);
        if (!isfinite(loss))
            continue;
        (void)fprintf(d->to, "%s%.1f,%.1f", drawn++ == 0 ? "<polyline points=\"" : " ",
            x_of(d, (double)d->points[i].step), y_of(d, scaled(d, loss)));
    }
    if (drawn != 0)
        (void)fprintf(d->to,
            "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s</text>\n",
            colour, RIGHT - 6, TOP + 16 * line, colour, name);
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

static void draw(drawing *d)
{
    find_range(d);
    (void)fprintf(d->to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<title>Loss over the steps of training</title>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_points(d);
    draw_axes(d);
    draw_losses(d, offsetof(prt_train_point, loss), "training loss", "#1f6fb4", 1);
    draw_losses(d, offsetof(prt_train_point, validation_loss), "validation loss", "#d9541e", 2);
    (void)fprintf(d->to, "</svg>\n");
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
