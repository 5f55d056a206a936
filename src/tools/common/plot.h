/* SPDX-License-Identifier: MIT */
/* plot.h — a plot of lines over a common axis as SVG: an image file, or a part of an HTML page. */
#ifndef PRT_TOOLS_COMMON_PLOT_H
#define PRT_TOOLS_COMMON_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct prt_plot {
    FILE *to;
    const char *title;
    const char *x_label, *y_label; /* y_label NULL: there is none */
    const char *id;                /* of the element in an HTML page; NULL: an image file */
    bool logarithmic;              /* the axis of y */
    double low, high;              /* range of y, as logarithms if `logarithmic`; low < high */
    double last;                   /* x from 0 to this number, above 0 */
} prt_plot;

/* Returns y of point `i`, and its x; NAN and infinities are left out. */
typedef double (*prt_plot_fn)(const void *user, size_t i, double *x);

/* Makes the range of y that of no values; includes a value in it; and makes it fit to be drawn. */
void prt_plot_clear_range(prt_plot *plot);
void prt_plot_include(prt_plot *plot, double y);
void prt_plot_finish_range(prt_plot *plot);

/* Write the beginning with the axes, a line with its entry in the legend (from 1 on), and the end.
 * A line without points is left out. Texts must not need to be escaped. */
void prt_plot_open(const prt_plot *plot);
void prt_plot_line(const prt_plot *plot, size_t count, prt_plot_fn point, const void *user,
    const char *name, const char *colour, int entry);
void prt_plot_close(const prt_plot *plot);

#endif
