/* SPDX-License-Identifier: MIT */
/* op_entry.c — operators through which data enter a graph: files, queues, examples, Python. */
#include "tensorflow/rows.h"

/* Says what the user can do, and does not ask for the inputs, which have no tensors either. */
poprt_status prt_tf_row_entry(prt_tf_call *n)
{
    return prt_tf_refuse(n, "data enter the graph here, so name the tensors behind it by --inputs");
}
