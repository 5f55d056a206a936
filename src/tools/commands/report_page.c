/* SPDX-License-Identifier: MIT */
/* report_page.c — writes the page of `poprt report`; see report_page.h. */
#include "tools/commands/report_page.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"
#include "poprt/base.h"
#include "tools/common/plot.h"

/* MOST_BARS: operators with a bar of their own. MOST_STEPS: steps in the table.
 * BAR_*: pixels of the chart of times. */
enum { MOST_BARS = 20, MOST_STEPS = 2000, BAR_WIDTH = 640, BAR_LEFT = 170, BAR_ROW = 20 };

/* ---- texts and numbers */

/* Writes text with the characters replaced that have a meaning in HTML. */
static void put_text(FILE *to, prt_str text)
{
    for (uint32_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        const char *name = c == '<' ? "&lt;"
            : c == '>'              ? "&gt;"
            : c == '&'              ? "&amp;"
            : c == '"'              ? "&quot;"
                                    : NULL;
        if (name != NULL)
            (void)fputs(name, to);
        else
            (void)fputc((unsigned char)c < 0x20 && c != '\n' ? ' ' : c, to);
    }
}

static prt_str text_of(const prt_json *object, const char *key)
{
    prt_str text = PRT_STR("");
    (void)prt_json_text(prt_json_get(object, key), &text);
    return text;
}

static int64_t number_of(const prt_json *object, const char *key)
{
    int64_t number = 0;
    (void)prt_json_i64(prt_json_get(object, key), &number);
    return number;
}

static void put_text_cell(FILE *to, prt_str text)
{
    (void)fputs("<td>", to);
    put_text(to, text);
    (void)fputs("</td>", to);
}

/* Writes a number with commas between thousands. */
static void put_number_cell(FILE *to, int64_t number)
{
    char digits[32];
    const int n = snprintf(digits, sizeof(digits), "%" PRId64, number);
    (void)fputs("<td class=\"n\">", to);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0 && digits[i - 1] != '-')
            (void)fputc(',', to);
        (void)fputc(digits[i], to);
    }
    (void)fputs("</td>", to);
}

static void put_time_cell(FILE *to, int64_t ns, int64_t runs)
{
    (void)fprintf(to, "<td class=\"n\">%.3f</td>",
        (double)ns * 1e-3 / (double)(runs > 0 ? runs : 1));
}

/* ---- parts of the page */

static void put_head(FILE *to, const char *model)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" "
                "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>",
        to);
    put_text(to, prt_str_of(model));
    (void)
        fputs("</title>\n<style>\n"
              "body { font-family: sans-serif; margin: 2em; max-width: 60em; }\n"
              "table { border-collapse: collapse; }\n"
              "td, th { padding: 0.2em 0.8em; text-align: left; border-bottom: 1px solid #ddd; }\n"
              "td.n { text-align: right; }\n"
              "pre { background: #f6f6f6; padding: 1em; overflow: auto; }\n"
              "</style>\n</head>\n<body>\n<h1>",
            to);
    put_text(to, prt_str_of(model));
    (void)fprintf(to, "</h1>\n<p>Report of poprt %s.</p>\n", poprt_version());
}

static void put_memory(FILE *to, const prt_json *report)
{
    const prt_json *memory = prt_json_get(report, "memory");
    (void)fputs("<h2>Memory</h2>\n<table id=\"memory\">\n<tr><th>kind</th><th>bytes</th></tr>\n",
        to);
    for (uint32_t i = 0; memory != NULL && i < memory->count; i++) {
        const prt_json *m = &memory->items[i];
        (void)fputs("<tr>", to);
        put_text_cell(to, m->key);
        put_number_cell(to, number_of(memory, m->key.data));
        (void)fputs("</tr>\n", to);
    }
    (void)fputs("<tr><td>weights of the executable</td>", to);
    put_number_cell(to, number_of(report, "weight_bytes"));
    (void)fputs("</tr>\n</table>\n", to);
}

static double live_kib(const void *user, size_t i, double *x)
{
    const prt_json *list = user;
    int64_t bytes = 0;
    *x = (double)i;
    return prt_json_i64(&list->items[i], &bytes) ? (double)bytes / 1024 : (double)NAN;
}

static void put_memory_plot(FILE *to, const prt_json *report)
{
    const prt_json *live = prt_json_get(report, "live_bytes");
    prt_plot plot = { .to = to,
        .title = "Bytes of values that are alive at each step",
        .x_label = "step",
        .y_label = "KiB",
        .id = "memory-over-steps" };
    (void)fputs("<h2>Memory over the steps</h2>\n", to);
    if (live == NULL || live->count == 0)
        return;
    prt_plot_clear_range(&plot);
    prt_plot_include(&plot, 0);
    for (uint32_t i = 0; i < live->count; i++) {
        double x;
        prt_plot_include(&plot, live_kib(live, i, &x));
    }
    prt_plot_finish_range(&plot);
    plot.last = live->count > 1 ? (double)(live->count - 1) : 1;
    prt_plot_open(&plot);
    prt_plot_line(&plot, live->count, live_kib, live, "values alive", "#1f6fb4", 1);
    prt_plot_close(&plot);
}

/* Draws a bar for each operator, slowest first. */
static void put_bars(FILE *to, const prt_json *operators, int64_t runs)
{
    const uint32_t n = operators->count < MOST_BARS ? operators->count : MOST_BARS;
    const double most = n != 0 ? (double)number_of(&operators->items[0], "ns") : 0;
    (void)fprintf(to,
        "<svg id=\"time-by-operator\" role=\"img\" width=\"%d\" height=\"%u\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>Time by operator</title>\n",
        BAR_WIDTH, (n + 1) * BAR_ROW);
    for (uint32_t i = 0; i < n; i++) {
        const prt_json *o = &operators->items[i];
        const double ns = (double)number_of(o, "ns");
        double share = 0;
        (void)prt_json_f64(prt_json_get(o, "share"), &share);
        (void)fprintf(to, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", BAR_LEFT - 8,
            i * BAR_ROW + 14);
        put_text(to, text_of(o, "operator"));
        (void)fprintf(to,
            "</text>\n<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#1f6fb4\"/>\n"
            "<text x=\"%.1f\" y=\"%u\">%.3f us, %.1f %%</text>\n",
            BAR_LEFT, i * BAR_ROW + 3, most > 0 ? 320 * ns / most : 0, BAR_ROW - 6,
            BAR_LEFT + (most > 0 ? 320 * ns / most : 0) + 6, i * BAR_ROW + 14,
            ns * 1e-3 / (double)(runs > 0 ? runs : 1), share * 100);
    }
    (void)fputs("</svg>\n", to);
}

static void put_times(FILE *to, const prt_json *report)
{
    const prt_json *profile = prt_json_get(report, "profile");
    const prt_json *operators = prt_json_get(profile, "operators");
    const int64_t runs = number_of(profile, "runs");
    (void)fputs("<h2>Time by operator</h2>\n", to);
    if (operators == NULL || operators->count == 0) {
        (void)fputs("<p>No run was measured.</p>\n", to);
        return;
    }
    (void)fprintf(to, "<p>Mean of %" PRId64 " runs, each %.3f us.</p>\n", runs,
        (double)number_of(profile, "run_ns") * 1e-3 / (double)(runs > 0 ? runs : 1));
    put_bars(to, operators, runs);
}

static void put_tensors(FILE *to, const prt_json *report)
{
    const prt_json *list = prt_json_get(report, "largest_tensors");
    (void)fputs("<h2>Largest tensors</h2>\n<table id=\"largest-tensors\">\n"
                "<tr><th>name</th><th>kind</th><th>type</th><th>bytes</th></tr>\n",
        to);
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const prt_json *t = &list->items[i];
        (void)fputs("<tr>", to);
        put_text_cell(to, text_of(t, "name"));
        put_text_cell(to, text_of(t, "kind"));
        put_text_cell(to, text_of(t, "type"));
        put_number_cell(to, number_of(t, "bytes"));
        (void)fputs("</tr>\n", to);
    }
    (void)fputs("</table>\n", to);
}

/* Lists the steps in the order of the program, with their times in a run. */
static void put_steps(FILE *to, const prt_json *report)
{
    const prt_json *profile = prt_json_get(report, "profile");
    const prt_json *steps = prt_json_get(profile, "steps");
    const int64_t runs = number_of(profile, "runs");
    if (steps == NULL || steps->count == 0)
        return;
    (void)fputs("<h2>Steps</h2>\n<table id=\"steps\">\n<tr><th>step</th><th>operator</th>"
                "<th>node</th><th>place</th><th>us a run</th></tr>\n",
        to);
    for (uint32_t i = 0; i < steps->count && i < MOST_STEPS; i++) {
        const prt_json *s = &steps->items[i];
        const prt_str form = text_of(s, "form");
        (void)fprintf(to, "<tr><td>%" PRId64 ".%" PRId64 "</td><td>", number_of(s, "block"),
            number_of(s, "step"));
        put_text(to, text_of(s, "operator"));
        (void)fputs(form.size != 0 ? " as " : "", to);
        put_text(to, form);
        (void)fputs("</td>", to);
        put_text_cell(to, text_of(s, "node"));
        put_text_cell(to, text_of(s, "location"));
        put_time_cell(to, number_of(s, "own_ns"), runs);
        (void)fputs("</tr>\n", to);
    }
    (void)fputs("</table>\n", to);
    if (steps->count > MOST_STEPS)
        (void)fprintf(to, "<p>%u more steps are not shown.</p>\n", steps->count - MOST_STEPS);
}

void prt_report_page(FILE *to, const char *model, const prt_json *report, const char *summary)
{
    put_head(to, model);
    put_memory(to, report);
    put_memory_plot(to, report);
    put_times(to, report);
    put_steps(to, report);
    put_tensors(to, report);
    (void)fputs("<h2>Executable</h2>\n<pre>", to);
    put_text(to, prt_str_of(summary));
    (void)fputs("</pre>\n</body>\n</html>\n", to);
}
