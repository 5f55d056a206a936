/* SPDX-License-Identifier: MIT */
/*
 * op_text.h — operators in tests: a graph as text, and what is inferred or computed for its first
 * output as text, which stays until the next call.
 */
#ifndef PRT_TESTS_SUPPORT_OP_TEXT_H
#define PRT_TESTS_SUPPORT_OP_TEXT_H

/* Type that is inferred for output 0: "f32[2,seq]". */
const char *op_type(const char *text);

/* What is known of the integers of output 0: "2 seq ?"; "" when nothing is. */
const char *op_content(const char *text);

/* Type and elements of output 0 of a graph without inputs: "i64[2]: 3 4". */
const char *op_value(const char *text);

/* The same for output `i`. */
const char *op_value_of(const char *text, unsigned i);

/* Name of the status of reading and running a graph without inputs. */
const char *op_status(const char *text);

#endif
