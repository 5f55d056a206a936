/* SPDX-License-Identifier: MIT */
/*
 * poprt/poprt.hpp — the C interface as classes of C++17. Everything is inline; a program links
 * libpoprt alone.
 *
 *     poprt::Model model = poprt::Model::load_file("model.onnx");
 *     poprt::Executable exec = poprt::Executable::compile(model);
 *     poprt::Session session(exec);
 *     poprt::StepIO io(session);
 *     io.bind("image", poprt::Tensor(pixels, { 1, 1, 8, 8 }));
 *     session.run(io);
 *     poprt::Span<const float> scores = io.output("logits").as<const float>();
 *
 *  - A class owns one handle of the C interface, moves it, and releases it. get() returns the
 *    handle, for functions that have no member here. A closed object, and one that was moved from,
 *    throws Error (POPRT_E_STATE) from every member but close, bool and the destructor.
 *  - A call that fails throws Error, and leaves its objects as the C function does.
 *  - The rules of the C functions about threads, lifetimes and bits of results hold: each member
 *    calls the function that its comment, or its name, names.
 *  - Pointers to Config and Env may be null, as in C: default options, and an environment with
 *    defaults.
 *
 * poprt/runtime.hpp has the class names of PopRT's C++ interface.
 */
#ifndef POPRT_POPRT_HPP
#define POPRT_POPRT_HPP

#include "poprt/base.hpp"
#include "poprt/builder.hpp"
#include "poprt/model.hpp"
#include "poprt/runner.hpp"
#include "poprt/session.hpp"

#endif
