/* SPDX-License-Identifier: MIT */
/* curve.h — the learning curve of `poprt train` as an SVG image. */
#ifndef PRT_TOOLS_TRAIN_CURVE_H
#define PRT_TOOLS_TRAIN_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* A report. A loss that was not computed is NAN. */
typedef struct prt_train_point {
    int64_t step;
    double loss, validation_loss;
} prt_train_point;

typedef PRT_VEC(prt_train_point) prt_train_points;

/* Writes the curves of both losses over the steps, and the points as a comment. The file is
 * complete, or as before. */
poprt_status prt_train_curve_write(const prt_train_point *points, size_t count, const char *path);

/* Reads the points up to a step from the comment of such a file, allocated in `arena`. A missing
 * file, or one without the comment, has none. */
poprt_status prt_train_curve_read(const char *path, int64_t last, prt_arena *arena,
    prt_train_points *out);

#endif
