/* SPDX-License-Identifier: MIT */
/* weights.h — the host's copy of a session's variables. */
#ifndef PRT_API_WEIGHTS_H
#define PRT_API_WEIGHTS_H

#include "api/handles.h"
#include "base/map.h"
#include "poprt/train.h"

struct poprt_weights {
    _Atomic uint32_t refs;
    uint64_t version; /* of the contents, from the counter of the environment */
    poprt_env *env;
    poprt_executable *exec;
    size_t count;
    struct prt_weights_item {
        uint32_t variable;
        size_t size;
        unsigned char *data;
    } * items;
    prt_arena *arena; /* of `by_name` */
    prt_map by_name;  /* name -> item */
};

/* Copies the contents of the copy that a session shares, if they are new to it. The session must be
 * locked. */
poprt_status prt_weights_follow(poprt_session *session);

#endif
