/* SPDX-License-Identifier: MIT */
/* flow_run.h — parts of a run with data flow; see stream.h. */
#ifndef PRT_RUNTIME_FLOW_RUN_H
#define PRT_RUNTIME_FLOW_RUN_H

#include "runtime/frame.h"
#include "runtime/stream.h"

/* Memory of a session for data flow: input blocks that were asked for, and sums of outputs. */
struct prt_flow_state {
    prt_tensor *queue;      /* by input, replica and step modulo `depth` */
    int64_t *asked;         /* by input and replica: steps whose block was asked for */
    prt_tensor *in, *out;   /* of one micro-batch */
    prt_tensor *sums;       /* by output and replica: of anchors `sum`; absent before the first */
    prt_arena **sum_memory; /* by output and replica */
    uint32_t depth;         /* largest of `depths` */
    uint32_t *depths;       /* by input: most blocks asked for at once */
};

/* Creates the state of a session whose program has a flow. */
poprt_status prt_flow_state_create(prt_session *s);
void prt_flow_state_release(prt_session *s);

/* replicas.c: adds `n` elements of `from` to those of `to`. */
void prt_add_elements(const prt_par *par, int32_t dtype, size_t n, void *to, const void *from);
/* Sums accumulators and gradients over all replicas, into replica 0. */
void prt_session_sum_replicas(prt_session *s);

/* flow_sum.c: outputs that are summed over the micro-batches. */
/* Allocates the sums of an output whose header is known, as the first step of a run does. */
poprt_status prt_flow_reserve_sums(prt_session *s, uint32_t output, const prt_tensor *value);
poprt_status prt_flow_add_sum(prt_session *s, uint32_t output, uint32_t replica,
    const prt_tensor *value, bool first);
/* Stores a sum in `out` in the type of the output; `out` is absent or a buffer. */
poprt_status prt_flow_return_sum(prt_session *s, uint32_t output, uint32_t replica,
    prt_tensor *out);

#endif
