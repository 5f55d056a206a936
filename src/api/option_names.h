/* SPDX-License-Identifier: MIT */
/* option_names.h — names that PopART, PopTorch and PopRT have for options, see option_names.def. */
#ifndef PRT_API_OPTION_NAMES_H
#define PRT_API_OPTION_NAMES_H

#include "api/handles.h"

/* A row of option_names.def. */
typedef struct prt_option_name {
    poprt_option_name info;
    const char *accepts;  /* SAME: enumerators, or NULL; otherwise as in base/accepts.h, or "map" */
    const char *harmless; /* DEVICES: values that change no result; NULL: all that are accepted */
    int32_t option, on;   /* SAME: the options to set, by id; -1: none */
} prt_option_name;

extern const prt_option_name prt_option_names[PRT_OPTION_NAME_COUNT];

/* Returns the row of a name, or of NAME for NAME.KEY where the row is a map; NULL: there is none.
 */
const prt_option_name *prt_option_name_find(const char *name);

/* Checks a value of a row. Returns the value for the row's option in `out`, of `size` bytes, if the
 * row has an option; otherwise logs once for each config that the value has no effect. Fails with
 * POPRT_E_ARG for a value that is not accepted, and with POPRT_E_UNSUPPORTED for one that would
 * need devices. */
poprt_status prt_option_name_value(const poprt_config *config, const prt_option_name *row,
    const char *name, const char *text, char *out, size_t size);

#endif
