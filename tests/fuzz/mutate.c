/* SPDX-License-Identifier: MIT */
/*
 * mutate.c — drives a fuzz target without a fuzzing engine: mutations of seed files, reproducible
 * by a seed number.
 *
 *     fuzz_onnx [--runs N] [--seed N] [--keep FILE] SEED...
 *
 * A seed is a file, or a folder of which all files are read. Each run truncates, flips, overwrites,
 * splices, repeats or renumbers bytes of one file; the mutator of a target, if it has one, makes
 * most of the changes. Before a run its input is written to FILE (if given), so that it is kept
 * after a crash. Batches run in separate processes, which an alarm ends if one input takes too
 * long. Ends with the line `N passed, N failed`.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

enum { BATCH = 500, SECONDS_PER_INPUT = 10, MAX_INPUT = 1 << 20, OPEN_FOLDERS = 16 };

#pragma weak LLVMFuzzerCustomMutator
#pragma weak LLVMFuzzerCustomCrossOver

typedef struct seed_file {
    unsigned char *data;
    size_t size;
} seed_file;

static seed_file *seeds;
static size_t n_seeds;

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(size_t n)
{
    return n != 0 ? (size_t)(next() % n) : 0;
}

static const uint64_t interesting[] = { 0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
    0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX };

/* Overwrites bytes with a protobuf varint of an interesting number. */
static size_t put_varint(unsigned char *to, size_t capacity)
{
    uint64_t v = interesting[below(sizeof(interesting) / sizeof(interesting[0]))];
    size_t n = 0;
    do {
        if (n < capacity)
            to[n] = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
        n++;
    } while (v != 0);
    return n;
}

static size_t mutate_once(unsigned char *d, size_t n, const seed_file *other)
{
    const size_t at = below(n);
    if (n == 0)
        return n;
    switch (next() % 8) {
    case 0:
        return at;
    case 1:
        d[at] ^= (unsigned char)(1u << below(8));
        return n;
    case 2:
        d[at] = (unsigned char)next();
        return n;
    case 3:
        (void)put_varint(d + at, n - at);
        return n;
    case 4: { /* remove a stretch */
        const size_t k = below(n - at < 64 ? n - at : 64);
        memmove(d + at, d + at + k, n - at - k);
        return n - k;
    }
    case 5: { /* repeat a stretch */
        const size_t k = below(n - at < 256 ? n - at : 256);
        if (n + k > MAX_INPUT)
            return n;
        memmove(d + at + k, d + at, n - at);
        return n + k;
    }
    case 6: { /* splice in another file's bytes */
        const size_t from = below(other->size), k = below(other->size - from);
        const size_t m = k < n - at ? k : n - at;
        if (m != 0)
            memcpy(d + at, other->data + from, m);
        return n;
    }
    default: { /* swap two bytes */
        const size_t b = below(n);
        const unsigned char t = d[at];
        d[at] = d[b];
        d[b] = t;
        return n;
    }
    }
}

static size_t mutate(unsigned char *d, size_t n, const seed_file *other)
{
    static unsigned char before[MAX_INPUT];
    const size_t choice = below(16);
    if (LLVMFuzzerCustomCrossOver != NULL && choice < 5) {
        memcpy(before, d, n);
        return LLVMFuzzerCustomCrossOver(before, n, other->data, other->size, d, MAX_INPUT,
            (unsigned)next());
    }
    if (LLVMFuzzerCustomMutator != NULL && choice < 15)
        return LLVMFuzzerCustomMutator(d, n, MAX_INPUT, (unsigned)next());
    return mutate_once(d, n, other);
}

static void run_batch(size_t runs, const char *keep)
{
    static unsigned char input[MAX_INPUT];
    for (size_t i = 0; i < runs; i++) {
        const seed_file *s = &seeds[below(n_seeds)];
        size_t n = s->size;
        memcpy(input, s->data, n);
        for (size_t k = 1 + below(4); k > 0; k--)
            n = mutate(input, n, &seeds[below(n_seeds)]);
        if (keep != NULL) {
            FILE *f = fopen(keep, "wb");
            if (f != NULL) {
                (void)fwrite(input, 1, n, f);
                (void)fclose(f);
            }
        }
        (void)alarm(SECONDS_PER_INPUT);
        (void)LLVMFuzzerTestOneInput(input, n);
        (void)alarm(0);
    }
}

/* Runs one batch in a separate process; false if the process dies. */
static int survives(size_t runs, const char *keep)
{
    const pid_t child = fork();
    if (child == 0) {
        run_batch(runs, keep);
        exit(0);
    }
    int how = 0;
    return child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

/* Reads a file, which mutations may double. */
static int load(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)place;
    if (type != FTW_F)
        return 0;
    FILE *f = fopen(path, "rb");
    seed_file *more = realloc(seeds, (n_seeds + 1) * sizeof(*seeds));
    unsigned char *data = malloc(MAX_INPUT / 2);
    if (more == NULL || data == NULL)
        abort();
    seeds = more;
    const size_t size = f != NULL ? fread(data, 1, MAX_INPUT / 2, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    seeds[n_seeds++] = (seed_file){ data, size };
    return 0;
}

int main(int argc, char **argv)
{
    size_t runs = 2000, passed = 0, failed = 0;
    uint64_t seed = 1;
    const char *keep = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
            keep = argv[++i];
        else if (nftw(argv[i], load, OPEN_FOLDERS, FTW_PHYS) != 0)
            (void)fprintf(stderr, "%s cannot be read\n", argv[i]);
    }
    if (n_seeds == 0) {
        (void)fprintf(stderr, "usage: %s [--runs N] [--seed N] [--keep FILE] SEED...\n", argv[0]);
        return 2;
    }
    for (size_t done = 0; done < runs; done += BATCH) {
        const size_t n = runs - done < BATCH ? runs - done : BATCH;
        state = seed * 1000003u + done;
        if (survives(n, keep)) {
            passed += n;
            continue;
        }
        failed++;
        (void)printf("FAIL a run of the batch of %zu with --seed %llu, from run %zu on\n", n,
            (unsigned long long)seed, done);
        if (keep != NULL) /* keep the input that caused the failure */
            break;
    }
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].data);
    free(seeds);
    (void)printf("%zu passed, %zu failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
