/* SPDX-License-Identifier: MIT */
/*
 * count.c — the number of usable processors: the affinity mask, limited by the cgroup's CPU quota.
 *
 * A quota binds at every level of the hierarchy, so all levels are read and the smallest limit
 * wins. Inside a container the path in /proc may not exist below /sys; going up to the mount point
 * then finds the container's own limit. Files are read into the stack: no function here allocates.
 */
#define _GNU_SOURCE
#include "cpu/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, MASK_WORDS = 8192 / 64 };

/* Reads the first bytes of a file as text; returns false when it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return false;
    size_t used = 0;
    ssize_t n = 1;
    while (used + 1 < size && n != 0) {
        n = read(fd, text + used, size - 1 - used);
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    text[used] = '\0';
    (void)close(fd);
    return n >= 0;
}

/* Returns ceil(quota / period); no limit when either is not positive. */
static uint32_t processors(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return UINT32_MAX;
    const long long n = quota / period + (quota % period != 0);
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Reads the limit of one cgroup v2 folder: "quota period", or "max period". */
static uint32_t limit_v2(char *path, size_t used)
{
    char text[64];
    (void)snprintf(path + used, PATH_SIZE - used, "/cpu.max");
    if (!read_text(path, text, sizeof(text)))
        return UINT32_MAX;
    char *rest = text;
    const long long quota = strtoll(text, &rest, 10);
    return rest != text ? processors(quota, strtoll(rest, NULL, 10)) : UINT32_MAX;
}

/* Reads the limit of one cgroup v1 folder, with quota (-1: no limit) and period in two files. */
static uint32_t limit_v1(char *path, size_t used)
{
    char quota[64], period[64];
    (void)snprintf(path + used, PATH_SIZE - used, "/cpu.cfs_quota_us");
    if (!read_text(path, quota, sizeof(quota)))
        return UINT32_MAX;
    (void)snprintf(path + used, PATH_SIZE - used, "/cpu.cfs_period_us");
    if (!read_text(path, period, sizeof(period)))
        return UINT32_MAX;
    return processors(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

/* Returns the smallest limit from `group` up to the mount point. */
static uint32_t limit_up(const char *root, const char *mount, const char *group,
    uint32_t (*limit)(char *path, size_t used))
{
    char path[PATH_SIZE];
    const int n = snprintf(path, sizeof(path), "%s%s", root, mount);
    const size_t base = (size_t)n;
    size_t used = base + strlen(group);
    if (n < 0 || used + 32 > sizeof(path))
        return UINT32_MAX;
    memcpy(path + base, group, strlen(group) + 1);
    uint32_t least = UINT32_MAX;
    for (;;) {
        const uint32_t here = limit(path, used);
        least = here < least ? here : least;
        if (used <= base)
            return least;
        do
            used--;
        while (used > base && path[used] != '/');
    }
}

/* Returns whether a comma-separated list contains the word "cpu". */
static bool has_cpu(const char *list)
{
    while (*list != '\0') {
        const size_t n = strcspn(list, ",");
        if (n == 3 && memcmp(list, "cpu", 3) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

uint32_t prt_cpu_quota(const char *root)
{
    char path[PATH_SIZE], text[PATH_SIZE];
    const int n = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (n < 0 || (size_t)n >= sizeof(path) || !read_text(path, text, sizeof(text)))
        return UINT32_MAX;
    uint32_t least = UINT32_MAX;
    /* A line is "id:controllers:path"; v2 has no controllers. */
    char *next = NULL, *line = strtok_r(text, "\n", &next);
    for (; line != NULL; line = strtok_r(NULL, "\n", &next)) {
        char *list = strchr(line, ':');
        char *group = list != NULL ? strchr(list + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        list++;
        uint32_t here = UINT32_MAX;
        if (*list == '\0') {
            here = limit_up(root, "/sys/fs/cgroup", group, limit_v2);
        } else if (has_cpu(list)) {
            char mount[64];
            (void)snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%.40s", list);
            here = limit_up(root, "/sys/fs/cgroup/cpu", group, limit_v1);
            const uint32_t joint = limit_up(root, mount, group, limit_v1);
            here = joint < here ? joint : here;
        }
        least = here < least ? here : least;
    }
    return least;
}

/* The mask has the size of the largest Linux build, so that the call cannot find it too small. */
static uint32_t affinity(void)
{
    unsigned long mask[MASK_WORDS] = { 0 };
    if (sched_getaffinity(0, sizeof(mask), (cpu_set_t *)(void *)mask) != 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (uint32_t)online : 1;
    }
    uint32_t count = 0;
    for (size_t i = 0; i < MASK_WORDS; i++)
        count += (uint32_t)__builtin_popcountl(mask[i]);
    return count != 0 ? count : 1;
}

uint32_t prt_cpu_count(void)
{
    const uint32_t ours = affinity(), paid = prt_cpu_quota("");
    return paid < ours ? paid : ours;
}
