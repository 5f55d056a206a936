/* SPDX-License-Identifier: MIT */
/* thread_names.h — names of the threads of this process (Linux's /proc/self/task). */
#ifndef PRT_TESTS_THREAD_NAMES_H
#define PRT_TESTS_THREAD_NAMES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static inline bool thread_exists_now(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    bool found = false;
    for (const struct dirent *e; !found && tasks != NULL && (e = readdir(tasks)) != NULL;) {
        char path[300], text[32] = "";
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        found = fgets(text, sizeof(text), file) != NULL && strncmp(text, name, strlen(name)) == 0 &&
            text[strlen(name)] == '\n';
        (void)fclose(file);
    }
    if (tasks != NULL)
        (void)closedir(tasks);
    return found;
}

/* Returns whether a thread of that name exists. Waits up to two seconds, because threads set
 * their names when they begin. */
static inline bool thread_exists(const char *name)
{
    const struct timespec wait = { .tv_nsec = 10000000 };
    for (int tries = 0; tries < 200; tries++) {
        if (thread_exists_now(name))
            return true;
        (void)nanosleep(&wait, NULL);
    }
    return false;
}

#endif
