/* SPDX-License-Identifier: MIT */
/* fixed_options.h — options that an executable keeps from its compilation. */
#ifndef PRT_API_FIXED_OPTIONS_H
#define PRT_API_FIXED_OPTIONS_H

#include "api/handles.h"

#ifndef PRT_NO_COMPILER
/* Returns whether compiling alone reads an option, and the executable depends on it. */
bool prt_option_is_fixed(const prt_option_row *row);

/* Returns whether compiling alone reads an option, which says where files are, or which are
 * written, and changes no program. */
bool prt_option_names_files(size_t option);

/* Stores the options of a config in a program that was compiled with it. */
poprt_status prt_fixed_options_note(const poprt_config *config, prt_program *program);

/* Fails with POPRT_E_ARG if the config sets an option, or a dimension, to another value than the
 * executable of an opened file was compiled with. A file that does not state its options passes,
 * and so does an executable that this process compiled: its config also serves the compilation. */
poprt_status prt_fixed_options_check(const poprt_executable *exec, const poprt_config *config);
#else
/* Without compiler a config has no such option. */
static inline poprt_status prt_fixed_options_check(const poprt_executable *exec,
    const poprt_config *config)
{
    (void)exec;
    (void)config;
    return POPRT_OK;
}
#endif

#endif
