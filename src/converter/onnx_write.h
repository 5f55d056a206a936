/* SPDX-License-Identifier: MIT */
/* onnx_write.h — writes a module as ONNX; shared by the files that do this. */
#ifndef PRT_CONVERTER_ONNX_WRITE_H
#define PRT_CONVERTER_ONNX_WRITE_H

#include "base/file.h"
#include "converter/onnx.h"
#include "converter/onnx_names.h"
#include "converter/encode.h"

enum {
    PRT_ONNX_EXTERNAL_SIZE = 1024, /* bytes from which constants go to the data file, if any */
    PRT_ONNX_EXTERNAL_ALIGN = 64   /* alignment of constants in the data file, in bytes */
};

typedef struct prt_onnx_writer {
    prt_encoder encoder;
    const prt_module *m;
    prt_names *names;
    prt_arena *scratch;
    prt_str data_name;     /* location of external data; empty: all data is in the model */
    prt_file_writer *data; /* open in the writing pass */
    uint64_t data_size;    /* bytes written in this pass so far */
    prt_opset *opsets;     /* domains that the file imports, in order, with their versions */
    int64_t ir_version;    /* determined in the counting pass */
    /* list of the main graph's constants, which are not written; NULL: they are */
    prt_onnx_given_list *left_out;
    prt_arena *list_arena;
} prt_onnx_writer;

/* onnx_write_opsets.c */
poprt_status prt_onnx_choose_opsets(prt_onnx_writer *w);
/* Returns the version of a domain that the file imports; 0 if it does not import the domain. */
int64_t prt_onnx_opset_of(const prt_onnx_writer *w, prt_str domain);

/* onnx_write_graph.c */
void prt_onnx_put_graph(prt_onnx_writer *w, uint32_t field, const prt_graph *graph);

/* onnx_write_node.c */
void prt_onnx_put_node(prt_onnx_writer *w, const prt_op *op);
void prt_onnx_put_identity(prt_onnx_writer *w, prt_str from, prt_str to);

/* onnx_write_value.c */
void prt_onnx_put_tensor(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_tensor *t);
/* Writes a reference to the data file that has the bytes of the tensor already. */
void prt_onnx_put_stored(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_tensor *t,
    const prt_stored *stored);
void prt_onnx_put_type(prt_onnx_writer *w, uint32_t field, const prt_type *type);
void prt_onnx_put_value_info(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_type *type,
    prt_str doc);

/* Raises the IR version of the file to at least `ir_version`. */
static inline void prt_onnx_need(prt_onnx_writer *w, int64_t ir_version)
{
    if (w->ir_version < ir_version)
        w->ir_version = ir_version;
}

#endif
