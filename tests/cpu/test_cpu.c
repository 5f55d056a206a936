/* SPDX-License-Identifier: MIT */
/*
 * test_cpu.c — processor features, identity and count; quotas from simulated cgroup trees.
 * Covers: count.c.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "support/check_main.h"

static char root[64];

static void make_root(void)
{
    (void)snprintf(root, sizeof(root), "/tmp/poprt-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

/* Writes a file below the root and the folders it needs. */
static void make_file(const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void remove_root(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(feature_levels_include_lower_levels)
{
    ck_assert_uint_eq(prt_cpu_level("portable"), 0);
    ck_assert_uint_eq(prt_cpu_level("avx2"), PRT_CPU_AVX2);
    ck_assert_uint_eq(prt_cpu_level("avx512"), PRT_CPU_AVX2 | PRT_CPU_AVX512);
    ck_assert_uint_eq(prt_cpu_level("avx512_vnni"), PRT_CPU_AVX2 | PRT_CPU_AVX512 | PRT_CPU_VNNI);
    ck_assert_uint_eq(prt_cpu_level("avx512_bf16"),
        PRT_CPU_AVX2 | PRT_CPU_AVX512 | PRT_CPU_VNNI | PRT_CPU_BF16);
    ck_assert_uint_eq(prt_cpu_level("avx512_amx"), prt_cpu_level("avx512_bf16") | PRT_CPU_AMX);
    ck_assert_uint_eq(prt_cpu_level("native") & prt_cpu_features(), prt_cpu_features());
    ck_assert_uint_eq(prt_cpu_level("AVX2"), UINT64_MAX);
    ck_assert_uint_eq(prt_cpu_level(""), UINT64_MAX);
}
END_TEST

START_TEST(identities_are_single_words)
{
    char one[PRT_CPU_IDENTITY], two[PRT_CPU_IDENTITY], cut[4];
    prt_cpu_identity(one, sizeof(one));
    prt_cpu_identity(two, sizeof(two));
    ck_assert_str_eq(one, two);
    ck_assert_uint_gt(strlen(one), 8);
    for (const char *p = one; *p != '\0'; p++)
        ck_assert(*p > ' ' && *p <= '~');
    prt_cpu_identity(cut, sizeof(cut));
    ck_assert_uint_eq(strlen(cut), 3);
    ck_assert_uint_eq(prt_cpu_cache(7), 0);
}
END_TEST

START_TEST(features_agree_with_the_compiler)
{
    const uint64_t features = prt_cpu_features();
    ck_assert_uint_eq(features, prt_cpu_features());
#if defined(__x86_64__) && !defined(PRT_EMULATE)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    ck_assert_int_eq((features & PRT_CPU_AVX2) != 0, avx2);
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd");
    ck_assert_int_eq((features & PRT_CPU_AVX512) != 0, avx512);
    if ((features & PRT_CPU_AVX512) != 0)
        ck_assert_int_eq((features & PRT_CPU_VNNI) != 0, __builtin_cpu_supports("avx512vnni") != 0);
    else
        ck_assert_uint_eq(features & (PRT_CPU_VNNI | PRT_CPU_BF16), 0);
#endif
}
END_TEST

START_TEST(count_follows_the_affinity_mask)
{
    const uint32_t before = prt_cpu_count();
    ck_assert_uint_ge(before, 1);
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
    ck_assert_uint_le(before, (unsigned)CPU_COUNT(&all));
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    ck_assert_uint_eq(prt_cpu_count(), 1);
}
END_TEST

START_TEST(absent_or_damaged_files_give_no_quota)
{
    make_root();
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    make_file("/proc/self/cgroup", "0::/a/b\nnonsense\n:\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    make_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    make_file("/sys/fs/cgroup/a/cpu.max", "rubbish\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    remove_root();
}
END_TEST

START_TEST(version_two_takes_the_least_of_all_levels)
{
    make_root();
    make_file("/proc/self/cgroup", "0::/a/b\n");
    make_file("/sys/fs/cgroup/a/b/cpu.max", "450000 100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 5);
    make_file("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 3);
    make_file("/sys/fs/cgroup/cpu.max", "1 100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 1);
    /* In a container the path may not exist; then the mount point is the cgroup itself. */
    make_file("/proc/self/cgroup", "0::/elsewhere/x\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 1);
    make_file("/proc/self/cgroup", "0::/\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 1);
    remove_root();
}
END_TEST

START_TEST(version_one_reads_quota_and_period)
{
    make_root();
    make_file("/proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/box\n1:memory:/box\n");
    make_file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n");
    make_file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    make_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    make_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 2);
    make_file("/proc/self/cgroup", "1:cpu:/box\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    make_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
    make_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), 4);
    make_file("/proc/self/cgroup", "1:cpuset,cpuacct:/box\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    remove_root();
}
END_TEST

START_TEST(overlong_paths_are_skipped)
{
    make_root();
    static char line[5000];
    (void)snprintf(line, sizeof(line), "0::/");
    memset(line + 4, 'x', sizeof(line) - 5);
    make_file("/proc/self/cgroup", line);
    make_file("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    ck_assert_uint_eq(prt_cpu_quota(root), UINT32_MAX);
    remove_root();
}
END_TEST

PRT_TEST_MAIN("cpu", feature_levels_include_lower_levels, identities_are_single_words,
    features_agree_with_the_compiler, count_follows_the_affinity_mask,
    absent_or_damaged_files_give_no_quota, version_two_takes_the_least_of_all_levels,
    version_one_reads_quota_and_period, overlong_paths_are_skipped)
