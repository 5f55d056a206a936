/* SPDX-License-Identifier: MIT */
/*
 * gradient_check.h — gradients of a graph, which is given as text, against central differences. The
 * loss is the sum of all elements of the graph's outputs, with different weights. A failure ends
 * the test with the text.
 */
#ifndef PRT_TESTS_SUPPORT_GRADIENT_CHECK_H
#define PRT_TESTS_SUPPORT_GRADIENT_CHECK_H

#include "support/graph_text.h"

/* Compares for each element of each input. The inputs are double, and get values from (low, high)
 * that are not close to multiples of 1/8, where functions may have kinks. */
void check_gradients(const char *text, double low, double high);

/* The same for float inputs, within wider bounds. */
void check_gradients_f32(const char *text, double low, double high);

/* The text has dims "n". Compares the gradients of the sum of the squares of the first output,
 * built for symbolic dims, with those built for dims of 2. */
void check_symbolic_gradients(const char *text);

/* Compares the gradients of the sum of the squares of all gradients. */
void check_second_gradients(const char *text, double low, double high);

/* Returns the message of a differentiation of the first output that must be refused, and checks
 * that it left the graph as it was. */
const char *gradient_error(const char *text);

#endif
