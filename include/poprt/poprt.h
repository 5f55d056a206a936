/* SPDX-License-Identifier: MIT */
/*
 * poprt/poprt.h — all of libpoprt: read an ONNX model, rewrite it, compile it, run it.
 *
 *     poprt_model_load_file -> poprt_pass_manager_run -> poprt_compile
 *         -> poprt_session_create -> poprt_stepio_bind -> poprt_session_run
 *
 * A compiled model can be saved as PopEF and opened later without the ONNX file:
 *
 *     poprt_executable_save_file, poprt_executable_load_file
 */
#ifndef POPRT_POPRT_H
#define POPRT_POPRT_H

#include "poprt/base.h"
#include "poprt/config.h"
#include "poprt/env.h"
#include "poprt/executable.h"
#include "poprt/model.h"
#include "poprt/pass.h"
#include "poprt/session.h"
#include "poprt/stepio.h"
#include "poprt/trace.h"

#endif
