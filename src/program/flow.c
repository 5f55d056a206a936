/* SPDX-License-Identifier: MIT */
/* flow.c — arithmetic of data flow; see flow.h. */
#include "program/flow.h"

#include "base/size.h"

static poprt_status check_positive(const char *name, int64_t value)
{
    return value >= 1
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, name, "is %lld; accepted: 1 and above", (long long)value);
}

poprt_status prt_flow_check(const prt_flow *f)
{
    size_t blocks;
    PRT_TRY(check_positive("batches per step", f->batches));
    PRT_TRY(check_positive("accumulation factor", f->accumulation));
    PRT_TRY(check_positive("replication factor", f->replicas));
    PRT_TRY(check_positive("input group size", f->input_group));
    if (f->replicas > PRT_FLOW_REPLICAS_MAX)
        return prt_fail(POPRT_E_LIMIT, "replication factor", "is %lld; accepted: up to %d",
            (long long)f->replicas, PRT_FLOW_REPLICAS_MAX);
    if (f->replicas % f->input_group != 0)
        return prt_fail(POPRT_E_ARG, "input group size",
            "is %lld; accepted: divisors of the replication factor, %lld",
            (long long)f->input_group, (long long)f->replicas);
    if (!prt_size_mul((size_t)f->batches, (size_t)f->accumulation, &blocks) ||
        !prt_size_mul(blocks, (size_t)f->replicas, &blocks) || blocks > INT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "a step of %lld x %lld x %lld micro-batches is too long; accepted: below 2^31",
            (long long)f->batches, (long long)f->accumulation, (long long)f->replicas);
    if (f->input_grouping >= PRT_GROUPING_COUNT || f->reduction >= PRT_REDUCTION_COUNT)
        return prt_fail(POPRT_E_ARG, NULL, "the data flow has an unknown grouping or reduction");
    return POPRT_OK;
}

poprt_status prt_anchor_check(const prt_flow *f, const prt_anchor *a, const char *name)
{
    if (a->mode >= PRT_ANCHOR_MODE_COUNT)
        return prt_fail(POPRT_E_ARG, name,
            "has return type %u; accepted: final (0), everyn (1), all (2), sum (3)", a->mode);
    if (a->mode != PRT_ANCHOR_everyn)
        return a->period == 1
            ? POPRT_OK
            : prt_fail(POPRT_E_ARG, name, "has a return period; only everyn takes one");
    if (a->period < 1 || a->period > f->batches || f->batches % a->period != 0)
        return prt_fail(POPRT_E_ARG, name,
            "has return period %lld; accepted: divisors of the batches per step, %lld",
            (long long)a->period, (long long)f->batches);
    return POPRT_OK;
}

int64_t prt_flow_steps(const prt_flow *f)
{
    return f->batches * f->accumulation;
}

int64_t prt_flow_blocks(const prt_flow *f)
{
    return prt_flow_steps(f) * f->replicas;
}

static int64_t groups(const prt_flow *f, bool broadcast)
{
    return broadcast ? 1 : f->replicas / f->input_group;
}

int64_t prt_flow_blocks_in(const prt_flow *f, bool broadcast)
{
    return prt_flow_steps(f) * groups(f, broadcast);
}

static int64_t group_of(const prt_flow *f, bool broadcast, int64_t replica)
{
    if (broadcast)
        return 0;
    return f->input_grouping == PRT_GROUPING_consecutive ? replica / f->input_group
                                                         : replica % groups(f, false);
}

int64_t prt_flow_block_in(const prt_flow *f, bool broadcast, int64_t step, int64_t replica)
{
    return step * groups(f, broadcast) + group_of(f, broadcast, replica);
}

int64_t prt_flow_first_reader(const prt_flow *f, bool broadcast, int64_t replica)
{
    const int64_t group = group_of(f, broadcast, replica);
    if (broadcast)
        return 0;
    return f->input_grouping == PRT_GROUPING_consecutive ? group * f->input_group : group;
}

int64_t prt_flow_blocks_out(const prt_flow *f, const prt_anchor *a)
{
    if (a->mode == PRT_ANCHOR_final || a->mode == PRT_ANCHOR_sum)
        return f->replicas;
    return prt_flow_blocks(f) / a->period;
}

bool prt_flow_returns(const prt_flow *f, const prt_anchor *a, int64_t step)
{
    if (a->mode == PRT_ANCHOR_final || a->mode == PRT_ANCHOR_sum)
        return step + 1 == prt_flow_steps(f);
    return (step / f->accumulation + 1) % a->period == 0;
}

int64_t prt_flow_block_out(const prt_flow *f, const prt_anchor *a, int64_t step, int64_t replica)
{
    if (a->mode == PRT_ANCHOR_final || a->mode == PRT_ANCHOR_sum)
        return replica;
    const int64_t batch = step / f->accumulation / a->period;
    return (batch * f->accumulation + step % f->accumulation) * f->replicas + replica;
}

static uint32_t prefix(int64_t batches, int64_t accumulation, int64_t replicas, int64_t dims[3])
{
    const int64_t all[3] = { batches, accumulation, replicas };
    uint32_t n = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (all[i] != 1)
            dims[n++] = all[i];
    return n;
}

uint32_t prt_flow_prefix_out(const prt_flow *f, const prt_anchor *a, int64_t dims[3])
{
    if (a->mode == PRT_ANCHOR_final || a->mode == PRT_ANCHOR_sum)
        return prefix(1, 1, f->replicas, dims);
    return prefix(f->batches / a->period, f->accumulation, f->replicas, dims);
}

uint32_t prt_flow_prefix_in(const prt_flow *f, bool broadcast, int64_t dims[3])
{
    return prefix(f->batches, f->accumulation, groups(f, broadcast), dims);
}
