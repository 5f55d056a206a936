/* SPDX-License-Identifier: MIT */
/* curve.h — the learning curve of `poprt train` as an SVG image. */
#ifndef PRT_TOOLS_TRAIN_CURVE_H
#define PRT_TOOLS_TRAIN_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A report. A loss that was not computed is NAN. */
typedef struct prt_train_point {
    int64_t step;
    double loss, validation_loss;
} prt_train_point;

/* Writes the curves of both losses over the steps. The file is complete, or as before. */
poprt_status prt_train_curve_write(const prt_train_point *points, size_t count, const char *path);

#endif
