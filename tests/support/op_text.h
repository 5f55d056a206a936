/* SPDX-License-Identifier: MIT */
/*
 * op_text.h — operators in tests. A graph is given as text, and the inferred or computed result of
 * its first output is returned as text, which is valid until the next call.
 */
#ifndef PRT_TESTS_SUPPORT_OP_TEXT_H
#define PRT_TESTS_SUPPORT_OP_TEXT_H

/* The inferred type of output 0: "f32[2,seq]". */
const char *op_type(const char *text);

/* The known integers of output 0: "2 seq ?", or "". */
const char *op_content(const char *text);

/* Type and elements of output 0 of a graph without inputs: "i64[2]: 3 4". */
const char *op_value(const char *text);

/* The same for output `i`. */
const char *op_value_of(const char *text, unsigned i);

/* Name of the status of reading and running a graph without inputs. */
const char *op_status(const char *text);

#endif
