/* SPDX-License-Identifier: MIT */
/*
 * affinity.c — moves a thread by a mask of one processor, and then restores its mask. The thread
 * stays there until the scheduler moves it.
 */
#define _GNU_SOURCE
#include "par/affinity.h"

#include <sched.h>
#include <stddef.h>

int32_t prt_affinity_cpu(void)
{
    return sched_getcpu();
}

static size_t next_cpu(const cpu_set_t *set, size_t cpu)
{
    do
        cpu = cpu + 1 < CPU_SETSIZE ? cpu + 1 : 0;
    while (!CPU_ISSET(cpu, set));
    return cpu;
}

void prt_affinity_move_thread(uint32_t index, int32_t avoid)
{
    cpu_set_t all, one;
    if (avoid < 0 || avoid >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    const size_t taken = (size_t)avoid;
    const uint32_t others = (uint32_t)CPU_COUNT(&all) - (CPU_ISSET(taken, &all) ? 1 : 0);
    if (others == 0)
        return;
    size_t cpu = taken;
    for (uint32_t steps = index % others + 1; steps > 0; steps--) {
        cpu = next_cpu(&all, cpu);
        if (cpu == taken)
            cpu = next_cpu(&all, cpu);
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0)
        (void)sched_setaffinity(0, sizeof(all), &all);
}
