/* SPDX-License-Identifier: MIT */
/*
 * data.h — the samples of `poprt train`: an array for each input of the model, whose axis 0 counts
 * the samples, from a folder of .npy files or an .npz archive. Files are mapped.
 */
#ifndef PRT_TOOLS_TRAIN_DATA_H
#define PRT_TOOLS_TRAIN_DATA_H

#include "data/calibration.h"
#include "tools/common/tool.h"

/* An input of the model and its samples. */
typedef struct prt_train_column {
    const char *name;
    const prt_tensor *array;
    int32_t dtype; /* of the input; bfloat16 where numpy's file has uint16 */
    size_t row;    /* bytes of a sample */
} prt_train_column;

typedef struct prt_train_data {
    const char *path;
    prt_samples *samples;
    int64_t count; /* samples */
    int64_t batch; /* dimension 0 of the inputs if it is a number; else -1 */
    uint32_t n_columns;
    prt_train_column *columns;
} prt_train_data;

/* Opens a folder or a file, which must have at least one sample. */
poprt_status prt_train_data_open(const char *path, prt_train_data *data);
void prt_train_data_close(prt_train_data *data);

/* Returns an array by its name. Fails with POPRT_E_NOT_FOUND, and names the arrays that exist;
 * `use` says what the array is needed for. */
poprt_status prt_train_data_find(const prt_train_data *data, prt_str name, const char *use,
    const prt_tensor **out);

/* Finds the array of each input of the model, and checks its element type and shape. The columns
 * are in `arena`. */
poprt_status prt_train_data_match(prt_train_data *data, prt_arena *arena, const poprt_model *model);

/* Gives the inputs of the model the shapes of the data with `batch` samples; -1: dimension 0 stays
 * as it is. */
poprt_status prt_train_data_set_shapes(const prt_train_data *data, int64_t batch,
    poprt_model *model);

/* Describes samples `first` and on of a column, in place. */
poprt_tensor prt_train_data_rows(const prt_train_column *column, int64_t first, int64_t count,
    int64_t dims[PRT_MAX_RANK]);

/* Copies `count` samples to `to`, which has room for them; `order` has their numbers. */
void prt_train_data_gather(const prt_train_column *column, const int64_t *order, int64_t count,
    void *to);

/* Writes the order of the samples of an epoch, which depends on seed and epoch alone; without
 * `shuffle` it is the order of the data. */
void prt_train_data_order(int64_t *order, int64_t count, bool shuffle, uint64_t seed,
    uint64_t epoch);

#endif
