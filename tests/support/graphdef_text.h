/* SPDX-License-Identifier: MIT */
/*
 * graphdef_text.h — GraphDefs of TensorFlow as text in tests. A node is a line
 *
 *   name = Op(input, node:1, ^control) attr=value …
 *
 * with values 3, 2.5, true, "text", float (a type), [2,?] (a shape; [*] of unknown rank),
 * float[2]{1, 2} (a tensor), (1, 2) (a list, of ints, floats, types or texts), @function. A
 * function is
 *
 *   def name(x: float, y: int32) -> (r: float = node:output:0) {
 *     nodes
 *   }
 *
 * An output ^node is a control output.
 */
#ifndef PRT_TESTS_SUPPORT_GRAPHDEF_TEXT_H
#define PRT_TESTS_SUPPORT_GRAPHDEF_TEXT_H

#include "ir/ir.h"
#include "support/onnx_bytes.h"
#include "tensorflow/tensorflow.h"

/* Returns the message; a mistake in the text ends the test. Its memory is kept until the process
 * ends. */
msg *graphdef_from_text(const char *text);

/* Reads the text with these options, or with those of NULL. */
poprt_status graphdef_read(const char *text, const prt_tf_options *options, prt_module **out);

/* Returns the main graph that a text is converted to; a failure ends the test. */
prt_graph *graphdef_convert(const char *text);

/* The main graph that a text is converted to has these parts, see assert_text_has. */
void assert_graphdef_has(const char *text, const char *parts);

/* The conversion of the text is refused with a message that has these parts, see
 * assert_text_has. */
void assert_graphdef_refused(const char *text, const char *parts);

/* The conversion of a text gives the results of a graph of the text form of the library, whose
 * inputs have the same order. */
void assert_graphdef_results(const char *text, const char *graph, double tolerance);

#endif
