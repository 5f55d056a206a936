/* SPDX-License-Identifier: MIT */
/* patterns.h — the patterns of PopART that a config chooses. */
#ifndef PRT_API_PATTERNS_H
#define PRT_API_PATTERNS_H

#include "api/handles.h"
#include "pass/engine/popart.h"

/* Chooses the patterns, and logs those named that have no counterpart. `config` may be NULL. */
poprt_status prt_config_patterns(const poprt_config *config, const poprt_env *env,
    prt_popart_set *out);

#endif
