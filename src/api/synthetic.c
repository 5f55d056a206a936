/* SPDX-License-Identifier: MIT */
/*
 * synthetic.c — the option synthetic_data_mode: inputs that a session makes once, so that a run
 * reads nothing from the caller. Integers and booleans are zeros, which are valid indices.
 */
#define _DEFAULT_SOURCE
#include <math.h>

#include "api/handles.h"

/* A number in (0, 1), word `index` of a sequence of the seed. */
static double uniform(uint64_t seed, uint64_t index)
{
    const uint64_t bits = prt_hash(&seed, sizeof(seed), index);
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t seed, uint64_t index)
{
    const double u = uniform(seed, 2 * index), v = uniform(seed, 2 * index + 1);
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

static poprt_status make_input(poprt_session *s, uint32_t i, const char *mode, uint64_t seed)
{
    const prt_io *io = &s->exec->program->inputs[i];
    prt_tensor *t = &s->synthetic[i];
    if (!prt_type_is_tensor(io->type) || io->type->dtype == PRT_DTYPE_string ||
        !prt_type_is_static(io->type) || io->type->rank > PRT_MAX_RANK ||
        !prt_tensor_init(t, io->type->dtype, (uint32_t)io->type->rank, io->type->dims, NULL))
        return prt_fail(POPRT_E_UNSUPPORTED, io->name.data,
            "synthetic_data_mode needs inputs that are tensors of fixed shape");
    t->data = prt_mem_alloc(&s->env->allocator, t->size);
    if (t->data == NULL)
        return POPRT_E_NOMEM;
    if (!prt_dtype_is_float(t->dtype) || strcmp(mode, "zeros") == 0)
        return POPRT_OK;
    const bool is_normal = strcmp(mode, "random_normal") == 0;
    for (size_t k = 0; k < prt_tensor_count(t); k++)
        prt_store_f64(t->dtype, t->data, k, is_normal ? normal(seed + i, k) : uniform(seed + i, k));
    return POPRT_OK;
}

poprt_status prt_synthetic_create(poprt_session *s, const poprt_config *config)
{
    const char *mode = prt_config_text(config, PRT_OPTION_synthetic_data_mode);
    const uint32_t n = s->exec->program->n_inputs;
    if (strcmp(mode, "off") == 0)
        return POPRT_OK;
    s->synthetic = prt_mem_alloc(&s->env->allocator, ((size_t)n + 1) * sizeof(*s->synthetic));
    if (s->synthetic == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        PRT_TRY(make_input(s, i, mode, (uint64_t)prt_config_number(config, PRT_OPTION_seed)));
    return POPRT_OK;
}

void prt_synthetic_release(poprt_session *s)
{
    for (uint32_t i = 0; s->synthetic != NULL && i < s->exec->program->n_inputs; i++)
        prt_mem_free(&s->env->allocator, s->synthetic[i].data);
    prt_mem_free(&s->env->allocator, s->synthetic);
}
