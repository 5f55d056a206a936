/* SPDX-License-Identifier: MIT */
/*
 * digits.c — reads handwritten digits with a compiled model, draws some of them with the answers,
 * and prints how many of all answers are right.
 *
 *     digits executable.popef images.npy labels.npy
 *
 * Uses nothing but libpoprt's public headers. Ends with 1 when fewer than 98 % of the
 * answers are right.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poprt/poprt.h"

enum { SIDE = 8, CLASSES = 10, SHOWN = 12, IN_A_ROW = 4 };

/* Shades from paper to ink. */
static const char shades[] = " .:-=+*#%@";

static int fail(const char *what)
{
    const poprt_error *e = poprt_last_error();
    (void)fprintf(stderr, "%s: %s %s: %s\n", what, poprt_status_name(e->status), e->subject,
        e->message);
    return 1;
}

/* The data of a version 1 .npy file in memory of its own; `size` gets its bytes. */
static void *read_npy(const char *path, size_t *size)
{
    unsigned char head[10];
    void *data = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(head, 1, sizeof(head), file) != sizeof(head) ||
        memcmp(head, "\x93NUMPY\x01", 7) != 0)
        goto out;
    const long start = 10 + head[8] + 256 * head[9];
    if (fseek(file, 0, SEEK_END) != 0 || ftell(file) < start)
        goto out;
    *size = (size_t)(ftell(file) - start);
    data = malloc(*size + 1);
    if (fseek(file, start, SEEK_SET) != 0 || data == NULL || fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
out:
    if (file != NULL)
        (void)fclose(file);
    if (data == NULL)
        (void)fprintf(stderr, "%s cannot be read\n", path);
    return data;
}

/* The class with the largest score, and how sure the model is of it. */
static int best(const float *scores, double *sure)
{
    int found = 0;
    double sum = 0;
    for (int i = 1; i < CLASSES; i++)
        if (scores[i] > scores[found])
            found = i;
    for (int i = 0; i < CLASSES; i++)
        sum += exp((double)(scores[i] - scores[found]));
    *sure = 1 / sum;
    return found;
}

/* Draws digits first … first + IN_A_ROW - 1 side by side, and under each what was read. */
static void draw_row(const float *images, const float *scores, const int64_t *labels, size_t first)
{
    for (int y = 0; y < SIDE; y++) {
        for (size_t i = first; i < first + IN_A_ROW; i++) {
            for (int x = 0; x < SIDE; x++) {
                const float ink = images[i * SIDE * SIDE + (size_t)(y * SIDE + x)];
                const char shade = shades[(int)((float)(sizeof(shades) - 2) * ink + 0.5f)];
                (void)printf("%c%c", shade, shade);
            }
            (void)printf("   ");
        }
        (void)printf("\n");
    }
    for (size_t i = first; i < first + IN_A_ROW; i++) {
        double sure = 0;
        const int read = best(scores + i * CLASSES, &sure);
        (void)printf("read %d, %3.0f %% %-5s ", read, 100 * sure,
            read == (int)labels[i] ? "sure" : "WRONG");
    }
    (void)printf("\n\n");
}

/* All images in one run: the model's batch dimension is open. */
static int read_digits(poprt_session *session, float *images, size_t count, float *scores)
{
    const int64_t in_dims[] = { (int64_t)count, 1, SIDE, SIDE };
    const int64_t out_dims[] = { (int64_t)count, CLASSES };
    const poprt_tensor in = { .data = images,
        .size = count * SIDE * SIDE * sizeof(float),
        .dims = in_dims,
        .rank = 4,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { .data = scores,
        .size = count * CLASSES * sizeof(float),
        .dims = out_dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_stepio *io = NULL;
    int failed = 0;
    if (poprt_stepio_create(session, &io) != POPRT_OK ||
        poprt_stepio_bind(io, "image", &in) != POPRT_OK ||
        poprt_stepio_bind(io, "logits", &out) != POPRT_OK ||
        poprt_session_run(session, io) != POPRT_OK)
        failed = fail("run");
    poprt_stepio_release(io);
    return failed;
}

static int show(float *images, const int64_t *labels, float *scores, size_t count)
{
    size_t right = 0;
    double sure;
    for (size_t i = 0; i < count; i++)
        right += best(scores + i * CLASSES, &sure) == (int)labels[i];
    for (size_t i = 0; i < SHOWN && i + IN_A_ROW <= count; i += IN_A_ROW)
        draw_row(images, scores, labels, i);
    (void)printf("%zu of %zu held-back digits read right (%.2f %%)\n", right, count,
        100.0 * (double)right / (double)count);
    return 100 * right >= 98 * count ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fprintf(stderr, "usage: %s executable.popef images.npy labels.npy\n", argv[0]);
        return 2;
    }
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    size_t image_bytes = 0, label_bytes = 0;
    float *images = read_npy(argv[2], &image_bytes);
    int64_t *labels = read_npy(argv[3], &label_bytes);
    const size_t count = label_bytes / sizeof(*labels);
    float *scores = malloc(count * CLASSES * sizeof(*scores) + 1);
    int failed = images == NULL || labels == NULL || scores == NULL ||
        image_bytes != count * SIDE * SIDE * sizeof(*images);
    if (!failed && poprt_executable_load_file(NULL, argv[1], NULL, &exec) != POPRT_OK)
        failed = fail(argv[1]);
    if (!failed && poprt_session_create(exec, NULL, &session) != POPRT_OK)
        failed = fail("session");
    if (!failed)
        failed = read_digits(session, images, count, scores);
    if (!failed)
        failed = show(images, labels, scores, count);
    poprt_session_release(session);
    poprt_executable_release(exec);
    free(scores);
    free(labels);
    free(images);
    return failed;
}
