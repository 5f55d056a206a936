/* SPDX-License-Identifier: MIT */
/* replicas.c — the arithmetic of replica groupings of poprt/builder.h. */
#include "api/handles.h"
#include "poprt/builder.h"

enum { GROUP_ALL, GROUP_CONSECUTIVE, GROUP_ORTHOGONAL, GROUP_NONE };
enum { RETRIEVE_GROUPS, RETRIEVE_SUM, RETRIEVE_REPLICAS };

static poprt_status check(const poprt_replica_grouping *g)
{
    if (g->replicas >= 1 && g->stride >= 1 && g->size >= 1 && g->size <= g->replicas / g->stride &&
        g->replicas % (g->stride * g->size) == 0 && (g->size > 1 || g->stride == 1))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, "grouping",
        "has %lld replicas, stride %lld and size %lld; accepted: numbers from 1 where stride * "
        "size "
        "divides the replicas, and stride 1 for size 1",
        (long long)g->replicas, (long long)g->stride, (long long)g->size);
}

poprt_status poprt_replica_grouping_of(int64_t replicas, const poprt_variable_settings *settings,
    poprt_replica_grouping *out)
{
    PRT_REQUIRE(settings);
    PRT_REQUIRE(out);
    const bool sized = settings->group == GROUP_CONSECUTIVE || settings->group == GROUP_ORTHOGONAL;
    if (replicas < 1)
        return prt_fail(POPRT_E_ARG, "replicas", "is %lld; accepted: from 1", (long long)replicas);
    if (settings->group < GROUP_ALL || settings->group > GROUP_NONE)
        return prt_fail(POPRT_E_ARG, "settings->group", "is %d; accepted: 0 to 3", settings->group);
    if (sized && (settings->size < 1 || replicas % settings->size != 0))
        return prt_fail(POPRT_E_ARG, "settings->size",
            "is %d; accepted: divisors of %lld, the number of replicas", settings->size,
            (long long)replicas);
    const int64_t size = settings->group == GROUP_ALL ? replicas : sized ? settings->size : 1;
    const bool apart = settings->group == GROUP_ORTHOGONAL && size > 1;
    *out = (poprt_replica_grouping){ replicas, apart ? replicas / size : 1, size };
    return POPRT_OK;
}

poprt_status poprt_replica_grouping_settings(const poprt_replica_grouping *grouping,
    poprt_variable_settings *out)
{
    PRT_REQUIRE(grouping);
    PRT_REQUIRE(out);
    PRT_TRY(check(grouping));
    const poprt_replica_grouping g = *grouping;
    int32_t group = GROUP_CONSECUTIVE;
    if (g.size == 1)
        group = GROUP_NONE;
    else if (g.size == g.replicas)
        group = GROUP_ALL;
    else if (g.stride == g.replicas / g.size)
        group = GROUP_ORTHOGONAL;
    else if (g.stride != 1 || g.size > INT32_MAX)
        return prt_fail(POPRT_E_UNSUPPORTED, "grouping",
            "its groups are neither consecutive nor as far apart as possible, so that no settings "
            "describe them");
    const bool sized = group == GROUP_CONSECUTIVE || group == GROUP_ORTHOGONAL;
    *out = (poprt_variable_settings){ group, sized ? (int32_t)g.size : 1, RETRIEVE_GROUPS };
    return POPRT_OK;
}

/* Refuses a number that is not an index below `end`. */
static poprt_status check_index(const char *parameter, int64_t value, int64_t end)
{
    return value >= 0 && value < end
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, parameter, "is %lld; accepted: 0 to %lld", (long long)value,
              (long long)end - 1);
}

poprt_status poprt_replica_grouping_find(const poprt_replica_grouping *grouping, int64_t replica,
    int64_t *group, int64_t *index)
{
    PRT_REQUIRE(grouping);
    PRT_TRY(check(grouping));
    PRT_TRY(check_index("replica", replica, grouping->replicas));
    const int64_t stride = grouping->stride, block = stride * grouping->size;
    if (group != NULL)
        *group = replica % stride + replica / block * stride;
    if (index != NULL)
        *index = replica % block / stride;
    return POPRT_OK;
}

poprt_status poprt_replica_grouping_at(const poprt_replica_grouping *grouping, int64_t group,
    int64_t index, int64_t *replica)
{
    PRT_REQUIRE(grouping);
    PRT_REQUIRE(replica);
    PRT_TRY(check(grouping));
    PRT_TRY(check_index("group", group, grouping->replicas / grouping->size));
    PRT_TRY(check_index("index", index, grouping->size));
    const int64_t stride = grouping->stride;
    *replica = group / stride * stride * grouping->size + group % stride + index * stride;
    return POPRT_OK;
}

poprt_status poprt_replica_grouping_transpose(const poprt_replica_grouping *grouping,
    poprt_replica_grouping *out)
{
    PRT_REQUIRE(grouping);
    PRT_REQUIRE(out);
    PRT_TRY(check(grouping));
    poprt_replica_grouping g = { .replicas = grouping->replicas };
    if (grouping->stride == 1) {
        g.stride = grouping->size;
        g.size = g.replicas / grouping->size;
    } else if (grouping->stride * grouping->size == g.replicas) {
        g.stride = 1;
        g.size = grouping->stride;
    } else {
        return prt_fail(POPRT_E_UNSUPPORTED, "grouping",
            "replicas of different groups are not a constant stride apart");
    }
    if (g.size == 1)
        g.stride = 1;
    *out = g;
    return POPRT_OK;
}

/* ---- shapes */

/* Returns how many values of a weight a transfer has. */
static poprt_status count_values(int64_t replicas, const poprt_variable_settings *settings,
    bool reads, int64_t *out)
{
    poprt_replica_grouping g;
    PRT_TRY(poprt_replica_grouping_of(replicas, settings, &g));
    if (settings->retrieval < RETRIEVE_GROUPS || settings->retrieval > RETRIEVE_REPLICAS)
        return prt_fail(POPRT_E_ARG, "settings->retrieval", "is %d; accepted: 0 to 2",
            settings->retrieval);
    if (reads && settings->retrieval == RETRIEVE_SUM)
        return prt_fail(POPRT_E_UNSUPPORTED, "settings->retrieval",
            "the sum of all replicas cannot be retrieved; accepted: 0 (one value of each group), 2 "
            "(all replicas)");
    *out = reads && settings->retrieval == RETRIEVE_REPLICAS ? replicas : replicas / g.size;
    return POPRT_OK;
}

static poprt_status check_shape(uint32_t rank, const int64_t *dims)
{
    if (rank != 0)
        PRT_REQUIRE(dims);
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] < 0)
            return prt_fail(POPRT_E_ARG, "dims", "dimension %u is negative", i);
    return POPRT_OK;
}

poprt_status poprt_variable_shape_on_host(int64_t replicas, const poprt_variable_settings *settings,
    int32_t reads, uint32_t rank, const int64_t *dims, uint32_t *out_rank, int64_t *out)
{
    int64_t count;
    PRT_REQUIRE(out_rank);
    PRT_REQUIRE(out);
    PRT_TRY(count_values(replicas, settings, reads != 0, &count));
    PRT_TRY(check_shape(rank, dims));
    const uint32_t more = count != 1;
    if (rank != 0)
        memmove(out + more, dims, rank * sizeof(*dims));
    if (more != 0)
        out[0] = count;
    *out_rank = rank + more;
    return POPRT_OK;
}

poprt_status poprt_variable_shape_on_replica(int64_t replicas,
    const poprt_variable_settings *settings, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
    int64_t *out)
{
    int64_t count;
    PRT_REQUIRE(out_rank);
    PRT_TRY(count_values(replicas, settings, false, &count));
    PRT_TRY(check_shape(rank, dims));
    const uint32_t less = count != 1;
    if (less != 0 && (rank == 0 || dims[0] != count))
        return prt_fail(POPRT_E_SHAPE, "dims",
            "the first dimension is not %lld, the number of groups", (long long)count);
    if (rank != less)
        PRT_REQUIRE(out);
    if (rank != less)
        memmove(out, dims + less, (rank - less) * sizeof(*dims));
    *out_rank = rank - less;
    return POPRT_OK;
}
