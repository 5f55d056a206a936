/* SPDX-License-Identifier: MIT */
/* plot.c — draws lines over a common axis; see plot.h. */
#include "tools/common/plot.h"

#include <math.h>

/* Pixels of the image, and of the rectangle between the axes. */
enum { WIDTH = 640, HEIGHT = 400, LEFT = 70, RIGHT = 620, TOP = 20, BOTTOM = 350, TICKS = 5 };

static double scaled(const prt_plot *p, double y)
{
    return p->logarithmic ? log10(y) : y;
}

void prt_plot_clear_range(prt_plot *p)
{
    p->low = (double)INFINITY;
    p->high = -(double)INFINITY;
}

void prt_plot_include(prt_plot *p, double y)
{
    if (!isfinite(y))
        return;
    p->low = fmin(p->low, scaled(p, y));
    p->high = fmax(p->high, scaled(p, y));
}

void prt_plot_finish_range(prt_plot *p)
{
    if (!(p->low <= p->high))
        p->low = p->high = 0;
    if (p->high - p->low < 1e-9) {
        p->low -= 0.5;
        p->high += 0.5;
    }
}

static double x_of(const prt_plot *p, double x)
{
    return LEFT + (RIGHT - LEFT) * x / p->last;
}

static double y_of(const prt_plot *p, double y)
{
    return BOTTOM - (BOTTOM - TOP) * (y - p->low) / (p->high - p->low);
}

static void draw_axes(const prt_plot *p)
{
    for (int i = 0; i < TICKS; i++) {
        const double part = (double)i / (TICKS - 1), y = p->low + part * (p->high - p->low);
        const double x = floor(part * p->last);
        (void)fprintf(p->to,
            "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            LEFT, y_of(p, y), RIGHT, LEFT - 8, y_of(p, y) + 4, p->logarithmic ? pow(10, y) : y,
            x_of(p, x), BOTTOM + 18, x);
    }
    (void)fprintf(p->to,
        "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333\"/>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
        LEFT, TOP, BOTTOM, RIGHT, (LEFT + RIGHT) / 2, HEIGHT - 10, p->x_label);
    if (p->y_label != NULL)
        (void)fprintf(p->to, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, TOP - 6, p->y_label);
}

void prt_plot_open(const prt_plot *p)
{
    /* Inside of a page, the namespace is known. */
    if (p->id == NULL)
        (void)fprintf(p->to, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    else
        (void)fprintf(p->to, "<svg id=\"%s\" role=\"img\"", p->id);
    (void)fprintf(p->to,
        " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n"
        "<title>%s</title>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, p->title);
    draw_axes(p);
}

void prt_plot_line(const prt_plot *p, size_t count, prt_plot_fn point, const void *user,
    const char *name, const char *colour, int entry)
{
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) {
        double x = 0;
        const double y = point(user, i, &x);
        if (!isfinite(y))
            continue;
        (void)fprintf(p->to, "%s%.1f,%.1f", drawn++ == 0 ? "<polyline points=\"" : " ", x_of(p, x),
            y_of(p, scaled(p, y)));
    }
    if (drawn != 0)
        (void)fprintf(p->to,
            "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s</text>\n",
            colour, RIGHT - 6, TOP + 16 * entry, colour, name);
}

void prt_plot_close(const prt_plot *p)
{
    (void)fprintf(p->to, "</svg>\n");
}
