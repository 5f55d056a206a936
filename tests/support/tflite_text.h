/* SPDX-License-Identifier: MIT */
/*
 * tflite_text.h — TFLite models as text in tests. A line is one of
 *
 *   x = f32[2,?]                     a tensor; ? is a free dimension
 *   w = i8[2]{1, 2} scale 0.5 -3     a constant with a scale and a zero point
 *   v = i8[2,2]{1, 2, 3, 4} axis 0 scale 0.5 0 0.25 0
 *   s = f32[2] variable
 *   a b = SPLIT(n, x) num_split=2    an operator, with its options by the names of tflite.def;
 *                                    _ is an absent input; options of lists are (1, 2)
 *   inputs x y
 *   outputs a
 *   subgraph                         what follows is the next subgraph
 *
 * CUSTOM:Name is a custom operator, whose options are numbers by their names.
 */
#ifndef PRT_TESTS_SUPPORT_TFLITE_TEXT_H
#define PRT_TESTS_SUPPORT_TFLITE_TEXT_H

#include "ir/ir.h"
#include "tflite/tflite.h"

/* Reads the text with these options, or with those of NULL. A mistake in the text ends the test. */
poprt_status tflite_read(const char *text, const prt_tf_options *options, prt_module **out);

/* Returns the main graph that a text is converted to; a failure ends the test. */
prt_graph *tflite_convert(const char *text);

/* The conversion of the text is refused with a message that has these parts, see
 * assert_text_has. */
void assert_tflite_refused(const char *text, const char *parts);

/* The conversion of a text gives the results of a graph of the text form of the library, whose
 * inputs have the same order. */
void assert_tflite_results(const char *text, const char *graph, double tolerance);

#endif
