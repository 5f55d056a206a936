/* SPDX-License-Identifier: MIT */
/*
 * derive.h — programs that differ from another one in the first contents of their variables, or
 * lack the parts that only reports and errors use. They have the steps of the other one, and share
 * its memory.
 */
#ifndef PRT_PROGRAM_DERIVE_H
#define PRT_PROGRAM_DERIVE_H

#include "program/program.h"

/* The first contents of a variable in a derived program: its bytes; or none, with `drops`; or, with
 * neither, the contents that it has. */
typedef struct prt_first_contents {
    prt_blob *blob;
    bool drops;
} prt_first_contents;

/*
 * Creates a program whose variables begin with `contents`, by variable; NULL: with the contents
 * that they have. Blobs are retained, and must have the sizes of their variables. Only a weight,
 * statistic or state whose first contents no step reads can drop them; for others `drops` has no
 * effect. With `bare` the program has no names and places of nodes, no list of eliminated nodes and
 * no facts about the model's file, but the names of its programs.
 */
poprt_status prt_program_derive(prt_program *from, const prt_first_contents *contents, bool bare,
    prt_program **out);

#endif
