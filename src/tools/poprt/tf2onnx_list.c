/* SPDX-License-Identifier: MIT */
/* tf2onnx_list.c — prints the operators of TensorFlow and TFLite that can be converted. */
#include <stdio.h>
#include <string.h>

#include "op/op.h"
#include "tools/poprt/convert.h"

/* A row of the list. Rows without `function` begin a family. */
typedef struct listed {
    const char *name, *function;
    uint16_t id;
} listed;

#define FAMILY(title) { title, NULL, PRT_OP_NONE },
#define OP(name, function, outputs) { name, #function, PRT_OP_NONE },
#define OP_IS(name, function, id) { name, #function, PRT_OP_##id },
#define OP_LAZY(name, function, outputs) OP(name, function, outputs)
#define OP_WRITES(name, function, outputs) OP(name, function, outputs)
static const listed tensorflow[] = {
#include "tensorflow/operators.def"
};

/* The operator of TensorFlow that a row of TFLite is converted as, or NULL; what it reads. */
typedef struct listed_tflite {
    const char *name, *as, *mode;
} listed_tflite;

#define COMPUTES "TFLite: computes with real numbers"
#define MOVES "TFLite: moves stored numbers"
#define STORED "TFLite: reads and writes stored numbers"
#define KEEPS "TFLite: computes with real numbers, keeps a state"
#define AS(operator, mode, inputs, name) { #operator, name, mode },
#define OWN(operator, mode, inputs, function) { #operator, NULL, mode },
static const listed_tflite tflite[] = {
#include "tflite/rows.def"
    { "TFLite_Detection_PostProcess", NULL, COMPUTES },
};

/* Returns the ONNX name of an operator. */
static const char *onnx_name(uint16_t id)
{
    static const char *const names[] = {
#define OP_BEGIN(id, domain, name, since, traits) [PRT_OP_##id] = name,
#include "op/ops.def"
    };
    return names[id];
}

static void print(const char *prefix, const char *name, const char *is, const char *family)
{
    (void)printf("%s%-*s %-18s %s\n", prefix, 36 - (int)strlen(prefix), name, is != NULL ? is : "-",
        family);
}

void prt_tf2onnx_list(void)
{
    const char *family = "";
    for (size_t i = 0; i < PRT_COUNT_OF(tensorflow); i++) {
        const listed *row = &tensorflow[i];
        if (row->function == NULL)
            family = row->name;
        else if (family[0] != '\0')
            print("", row->name, strcmp(row->function, "same") == 0 ? onnx_name(row->id) : NULL,
                family);
    }
    for (size_t i = 0; i < PRT_COUNT_OF(tflite); i++)
        if (strcmp(tflite[i].name, "CUSTOM") != 0)
            print("tflite:", tflite[i].name, tflite[i].as, tflite[i].mode);
}
