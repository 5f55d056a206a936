/* SPDX-License-Identifier: MIT */
/*
 * cold.h — shared by the programs cold_*.c: the clock, the process's memory, inputs from the
 * command line. Each loads one model, runs it once and prints one JSON line.
 *
 *     cold_ENGINE ... MODEL THREADS NAME=f32:1x3x224x224 ...
 */
#ifndef POPRT_BENCH_COLD_H
#define POPRT_BENCH_COLD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLD_MAX_RANK = 8 };

/* An input and its values: a ramp for f32, zeros for i64. */
typedef struct cold_input {
    char *name;
    int is_float;
    int64_t dims[COLD_MAX_RANK];
    uint32_t rank;
    void *data;
    size_t size;
} cold_input;

static double cold_now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void cold_need(int good, const char *what)
{
    if (!good) {
        (void)fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

/* Reads NAME=TYPE:DxDx..., which it cuts up. */
static cold_input cold_read_input(char *text)
{
    cold_input in = { .name = text };
    char *type = strchr(text, '=');
    cold_need(type != NULL && strlen(type) > 5, "reading an input");
    *type++ = '\0';
    in.is_float = strncmp(type, "f32", 3) == 0;
    size_t count = 1;
    for (char *d = type + 4; in.rank < COLD_MAX_RANK && *d != '\0'; d += *d == 'x') {
        in.dims[in.rank] = strtoll(d, &d, 10);
        count *= (size_t)in.dims[in.rank++];
    }
    in.size = count * (in.is_float ? sizeof(float) : sizeof(int64_t));
    in.data = calloc(in.size, 1);
    cold_need(in.data != NULL, "taking memory");
    for (size_t i = 0; in.is_float && i < count; i++)
        ((float *)in.data)[i] = (float)(int)(i & 255) / 128 - 1;
    return in;
}

/* Bytes by the line of /proc/self/status that begins with `key`; 0 without it. */
static long cold_status(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    return line != NULL ? strtol(line + strlen(key) + 1, NULL, 10) * 1024 : 0;
}

/* Members of the JSON line: memory now. */
static void cold_put_memory(const char *when)
{
    char status[4096] = "";
    FILE *f = fopen("/proc/self/status", "r");
    if (f != NULL) {
        status[fread(status, 1, sizeof status - 1, f)] = '\0';
        (void)fclose(f);
    }
    (void)printf("\"%s_anon\":%ld,\"%s_file\":%ld,\"%s_peak\":%ld,", when,
        cold_status(status, "RssAnon"), when, cold_status(status, "RssFile"), when,
        cold_status(status, "VmHWM"));
}

#endif
