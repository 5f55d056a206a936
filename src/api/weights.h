/* SPDX-License-Identifier: MIT */
/* weights.h — the host's copy of a session's variables. */
#ifndef PRT_API_WEIGHTS_H
#define PRT_API_WEIGHTS_H

#include "api/handles.h"
#include "base/map.h"
#include "poprt/train.h"

struct poprt_weights {
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

#endif
