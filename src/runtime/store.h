/* SPDX-License-Identifier: MIT */
/*
 * store.h — the memory of the variables of a session.
 *
 * Weights, states and scalars have one memory, which all replicas read and the update writes.
 * Accumulators and gradients have one for each replica. A statistic has two for each replica: the
 * current contents, and a copy that micro-batches work on. prt_store_commit makes the copies
 * current, and prt_store_restart starts them again from the current contents, so that a run that
 * fails changes nothing.
 */
#ifndef PRT_RUNTIME_STORE_H
#define PRT_RUNTIME_STORE_H

#include "program/program.h"
#include "tensor/tensor.h"

typedef struct prt_store prt_store;
struct prt_counted;

/* Creates the variables with their first contents, which are read from the program's constants. The
 * memory of a session that measures is left untouched. */
poprt_status prt_store_create(const prt_program *program, struct prt_counted *memory,
    uint32_t replicas, prt_store **out);
void prt_store_release(prt_store *store);

/* Returns the memory that steps of a replica use. */
void *prt_store_working(const prt_store *store, uint32_t variable, uint32_t replica);
/* Returns the contents as of the last update. */
void *prt_store_current(const prt_store *store, uint32_t variable, uint32_t replica);
/* Returns the bytes of a variable. */
size_t prt_store_size(const prt_store *store, uint32_t variable);
/* Returns the bytes of the whole store. */
size_t prt_store_memory(const prt_store *store);
uint32_t prt_store_replicas(const prt_store *store);
/* Returns whether steps of different replicas use different memory for it. */
bool prt_store_is_per_replica(const prt_store *store, uint32_t variable);

/* Sets accumulators to zero. */
void prt_store_clear(prt_store *store);
/* Sets the working copies of statistics to their current contents. */
void prt_store_restart(prt_store *store);
/* Makes the working copies of statistics current. */
void prt_store_commit(prt_store *store);

#endif
