/* SPDX-License-Identifier: MIT */
/* train_session.c — sessions of training programs; poprt/train.h. */
#include "api/handles.h"
#include "poprt/train.h"
#include "train/optimizer.h"

static poprt_status check_trains(const poprt_session *session)
{
    if (session->exec->program->optimizer.size != 0)
        return POPRT_OK;
    return prt_fail(POPRT_E_STATE, session->exec->file,
        "the executable does not train; compile it by poprt_compile_training");
}

/* Fails with the first line in which two descriptions of optimizers differ. */
static poprt_status fail_difference(prt_str old, prt_str now)
{
    const char *a = old.data, *b = now.data;
    for (;;) {
        const size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");
        if (na != nb || memcmp(a, b, na) != 0)
            return prt_fail(POPRT_E_ARG, "optimizer",
                "cannot replace the optimizer of the executable: that has '%.*s', this has '%.*s'",
                (int)na, a, (int)nb, b);
        if (a[na] == '\0' && b[nb] == '\0')
            return POPRT_OK;
        a += na + (a[na] != '\0');
        b += nb + (b[nb] != '\0');
    }
}

static poprt_status set_scalars(poprt_session *session, const prt_optimizer *o, prt_arena *arena)
{
    const prt_program *p = session->exec->program;
    const prt_optimizer_context context = { .accumulation = p->flow.accumulation,
        .replicas = p->flow.replicas,
        .accumulates = p->accumulates,
        .mean = p->flow.reduction != PRT_REDUCTION_sum,
        .running = p->flow.reduction == PRT_REDUCTION_mean_running };
    for (uint32_t i = 0; i < p->n_variables; i++) {
        prt_optimizer_plan plan;
        if (p->variables[i].role != PRT_VARIABLE_weight)
            continue;
        prt_arena_reset(arena);
        PRT_TRY(prt_optimizer_plan_weight(o, p->variables[i].name, p->variables[i].type->dtype,
            &context, arena, &plan));
        for (uint32_t k = 0; k < plan.n_scalars; k++)
            if (!plan.scalars[k].is_constant)
                PRT_TRY(prt_session_set_scalar(session->session, plan.scalars[k].name,
                    plan.scalars[k].value));
    }
    const prt_optimizer_value scaling = prt_optimizer_loss_scaling(o);
    for (uint32_t i = 0; i < p->n_variables && !scaling.is_constant; i++)
        if (p->variables[i].role == PRT_VARIABLE_scalar && p->variables[i].loss_scale > 0)
            PRT_TRY(prt_session_set_scalar(session->session, p->variables[i].name,
                (double)scaling.value));
    return POPRT_OK;
}

static poprt_status update_optimizer(poprt_session *session, const prt_optimizer *o)
{
    prt_arena *arena = NULL;
    PRT_TRY(check_trains(session));
    PRT_TRY(prt_arena_create(&session->env->allocator, 0, &arena));
    const prt_str now = prt_optimizer_identity(o, arena);
    poprt_status status =
        now.data != NULL ? fail_difference(session->exec->program->optimizer, now) : POPRT_E_NOMEM;
    if (status == POPRT_OK)
        status = set_scalars(session, o, arena);
    prt_arena_release(arena);
    return status;
}

poprt_status poprt_session_update_optimizer(poprt_session *session,
    const poprt_optimizer *optimizer)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(optimizer);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = update_optimizer(session, optimizer->inner);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "optimizer");
}

/* ---- counters */

poprt_status poprt_session_get_progress(poprt_session *session, poprt_train_progress *out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    prt_session_counters now;
    PRT_TRY(prt_lock_session(session));
    prt_session_progress(session->session, &now);
    prt_unlock_session(session);
    const poprt_train_progress progress = { .struct_size = sizeof(progress),
        .updates = now.updates,
        .micro_batches = now.micro_batches,
        .seed = now.seed };
    return prt_export(out, &progress, sizeof(progress), "out");
}

poprt_status poprt_session_set_random_state(poprt_session *session, uint64_t seed,
    uint64_t micro_batches)
{
    PRT_REQUIRE(session);
    if (session->keeps_random_state)
        return prt_fail(POPRT_E_STATE, "enable_load_and_offload_rng_state",
            "is false: this session keeps its random state");
    PRT_TRY(prt_lock_session(session));
    prt_session_set_seed(session->session, seed, micro_batches);
    prt_unlock_session(session);
    return POPRT_OK;
}

poprt_status poprt_session_set_random_seed(poprt_session *session, uint64_t seed)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    prt_session_set_seed(session->session, seed, 0);
    prt_unlock_session(session);
    return POPRT_OK;
}
