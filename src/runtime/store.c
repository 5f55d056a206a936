/* SPDX-License-Identifier: MIT */
/* store.c — the memory of the variables of a session; see store.h. */
#include "runtime/store.h"

#include "runtime/state.h"

typedef struct slot {
    size_t size;          /* bytes of the variable */
    size_t pitch;         /* bytes from one replica's memory to the next; 0: all share it */
    size_t current, copy; /* offsets; equal where there is no working copy */
} slot;

struct prt_store {
    const prt_program *program;
    prt_counted *counted;
    uint32_t replicas;
    slot *slots;
    size_t size;
    unsigned char *memory;
};

/* Adds `count` areas of `pitch` bytes to the store's memory and returns the offset of the first. */
static bool add_areas(prt_store *s, size_t pitch, uint32_t count, size_t *at)
{
    *at = s->size;
    return (pitch == 0 || count <= SIZE_MAX / pitch) &&
        prt_size_add(s->size, pitch * count, &s->size);
}

static poprt_status place(prt_store *s, uint32_t i)
{
    const prt_variable *v = &s->program->variables[i];
    slot *to = &s->slots[i];
    size_t pitch;
    bool fits =
        prt_type_size(v->type, &to->size) && prt_size_add(to->size, PRT_BUFFER_ALIGN, &pitch);
    pitch = prt_size_align(to->size, PRT_BUFFER_ALIGN);
    const bool own = v->role == PRT_VARIABLE_accumulator || v->role == PRT_VARIABLE_gradient ||
        v->role == PRT_VARIABLE_statistic;
    to->pitch = own ? pitch : 0;
    fits = fits && add_areas(s, pitch, own ? s->replicas : 1, &to->current);
    to->copy = to->current;
    if (v->role == PRT_VARIABLE_statistic)
        fits = fits && add_areas(s, pitch, s->replicas, &to->copy);
    return fits ? POPRT_OK
                : prt_fail(POPRT_E_LIMIT, v->name.data, "the variables exceed the address space");
}

/* Sets the first contents of a variable. */
static void fill(prt_store *s, uint32_t i)
{
    const prt_variable *v = &s->program->variables[i];
    const slot *at = &s->slots[i];
    unsigned char *to = s->memory + at->current;
    const uint32_t copies = at->pitch != 0 ? s->replicas : 1;
    if (v->init != PRT_NO_CONSTANT && !prt_variable_is_empty(s->program, v))
        memcpy(to, s->program->constants[v->init].blob->data, at->size);
    else if (v->fill != 0.0f)
        for (size_t k = 0; k < at->size / (prt_dtype_bits(v->type->dtype) / 8); k++)
            prt_store_f64(v->type->dtype, to, k, (double)v->fill);
    for (uint32_t r = 1; r < copies; r++)
        memcpy(to + r * at->pitch, to, at->size);
    for (uint32_t r = 0; at->copy != at->current && r < copies; r++)
        memcpy(s->memory + at->copy + r * at->pitch, to, at->size);
}

static poprt_status setup(prt_store *s)
{
    const uint32_t n = s->program->n_variables;
    for (uint32_t i = 0; i < n; i++)
        PRT_TRY(place(s, i));
    void *memory = NULL;
    PRT_TRY(prt_counted_alloc(s->counted, s->size, &memory));
    s->memory = memory;
    if (s->counted->measures)
        return POPRT_OK;
    memset(s->memory, 0, s->size);
    for (uint32_t i = 0; i < n; i++)
        fill(s, i);
    return POPRT_OK;
}

poprt_status prt_store_create(const prt_program *program, prt_counted *memory, uint32_t replicas,
    prt_store **out)
{
    prt_store *s = prt_mem_alloc(&memory->allocator, sizeof(*s));
    if (s == NULL)
        return POPRT_E_NOMEM;
    *s = (prt_store){ .program = program, .counted = memory, .replicas = replicas };
    s->slots = prt_mem_alloc(&memory->allocator, program->n_variables * sizeof(slot));
    const poprt_status status = s->slots != NULL ? setup(s) : POPRT_E_NOMEM;
    if (status != POPRT_OK) {
        prt_store_release(s);
        return status;
    }
    *out = s;
    return POPRT_OK;
}

void prt_store_release(prt_store *s)
{
    if (s == NULL)
        return;
    prt_counted *counted = s->counted;
    prt_counted_free(counted, s->memory, s->size);
    prt_mem_free(&counted->allocator, s->slots);
    prt_mem_free(&counted->allocator, s);
}

void *prt_store_working(const prt_store *s, uint32_t variable, uint32_t replica)
{
    const slot *at = &s->slots[variable];
    return s->memory + at->copy + replica * at->pitch;
}

void *prt_store_current(const prt_store *s, uint32_t variable, uint32_t replica)
{
    const slot *at = &s->slots[variable];
    return s->memory + at->current + replica * at->pitch;
}

size_t prt_store_size(const prt_store *s, uint32_t variable)
{
    return s->slots[variable].size;
}

size_t prt_store_memory(const prt_store *s)
{
    return s->size;
}

uint32_t prt_store_replicas(const prt_store *s)
{
    return s->replicas;
}

bool prt_store_is_per_replica(const prt_store *s, uint32_t variable)
{
    return s->replicas > 1 && s->slots[variable].pitch != 0;
}

void prt_store_clear(prt_store *s)
{
    for (uint32_t i = 0; i < s->program->n_variables; i++)
        for (uint32_t r = 0;
             s->program->variables[i].role == PRT_VARIABLE_accumulator && r < s->replicas; r++)
            memset(prt_store_working(s, i, r), 0, s->slots[i].size);
}

void prt_store_restart(prt_store *s)
{
    for (uint32_t i = 0; i < s->program->n_variables; i++)
        for (uint32_t r = 0;
             s->program->variables[i].role == PRT_VARIABLE_statistic && r < s->replicas; r++)
            memcpy(prt_store_working(s, i, r), prt_store_current(s, i, r), s->slots[i].size);
}

void prt_store_commit(prt_store *s)
{
    for (uint32_t i = 0; i < s->program->n_variables; i++)
        for (uint32_t r = 0;
             s->program->variables[i].role == PRT_VARIABLE_statistic && r < s->replicas; r++)
            memcpy(prt_store_current(s, i, r), prt_store_working(s, i, r), s->slots[i].size);
}
