/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops_ml.h — operators of ai.onnx.ml.
 * See poprt/builder_ops.h. Made by tests/builder/ops.py.
 */
#ifndef POPRT_BUILDER_OPS_ML_H
#define POPRT_BUILDER_OPS_ML_H

#include "poprt/builder_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_ml_array_feature_extractor_attrs {
    const char *name;
} poprt_ml_array_feature_extractor_attrs;

/* ArrayFeatureExtractor, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_array_feature_extractor(poprt_builder *builder, poprt_id x,
    poprt_id y, const poprt_ml_array_feature_extractor_attrs *attrs)
{
    const poprt_id in[] = { x, y };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "ArrayFeatureExtractor",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_binarizer_attrs {
    const char *name;
    poprt_optional_float threshold; /* default 0 */
} poprt_ml_binarizer_attrs;

/* Binarizer, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_binarizer(poprt_builder *builder, poprt_id x,
    const poprt_ml_binarizer_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "threshold", attrs->threshold);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "Binarizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_cast_map_attrs {
    const char *name;
    const char *cast_to; /* default TO_FLOAT */
    const char *map_form; /* default DENSE */
    poprt_optional_int max_map; /* default 1 */
} poprt_ml_cast_map_attrs;

/* CastMap, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_cast_map(poprt_builder *builder, poprt_id x,
    const poprt_ml_cast_map_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "cast_to", attrs->cast_to);
        n = poprt_put_string(list, n, "map_form", attrs->map_form);
        n = poprt_put_int(list, n, "max_map", attrs->max_map);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "CastMap",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_category_mapper_attrs {
    const char *name;
    poprt_string_list cats_strings;
    poprt_int_list cats_int64s;
    const char *default_string; /* default _Unused */
    poprt_optional_int default_int64; /* default -1 */
} poprt_ml_category_mapper_attrs;

/* CategoryMapper, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_category_mapper(poprt_builder *builder, poprt_id x,
    const poprt_ml_category_mapper_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_strings(list, n, "cats_strings", attrs->cats_strings);
        n = poprt_put_ints(list, n, "cats_int64s", attrs->cats_int64s);
        n = poprt_put_string(list, n, "default_string", attrs->default_string);
        n = poprt_put_int(list, n, "default_int64", attrs->default_int64);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "CategoryMapper",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_dict_vectorizer_attrs {
    const char *name;
    poprt_string_list string_vocabulary;
    poprt_int_list int64_vocabulary;
} poprt_ml_dict_vectorizer_attrs;

/* DictVectorizer, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_dict_vectorizer(poprt_builder *builder, poprt_id x,
    const poprt_ml_dict_vectorizer_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_strings(list, n, "string_vocabulary", attrs->string_vocabulary);
        n = poprt_put_ints(list, n, "int64_vocabulary", attrs->int64_vocabulary);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "DictVectorizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_feature_vectorizer_attrs {
    const char *name;
    poprt_int_list inputdimensions;
} poprt_ml_feature_vectorizer_attrs;

/* FeatureVectorizer, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_feature_vectorizer(poprt_builder *builder, uint32_t n_x,
    const poprt_id *x, const poprt_ml_feature_vectorizer_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "inputdimensions", attrs->inputdimensions);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "FeatureVectorizer",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = x;
    op.n_more_inputs = n_x;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_imputer_attrs {
    const char *name;
    poprt_float_list imputed_value_floats;
    poprt_optional_float replaced_value_float; /* default 0 */
    poprt_int_list imputed_value_int64s;
    poprt_optional_int replaced_value_int64; /* default 0 */
} poprt_ml_imputer_attrs;

/* Imputer, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_imputer(poprt_builder *builder, poprt_id x,
    const poprt_ml_imputer_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "imputed_value_floats", attrs->imputed_value_floats);
        n = poprt_put_float(list, n, "replaced_value_float", attrs->replaced_value_float);
        n = poprt_put_ints(list, n, "imputed_value_int64s", attrs->imputed_value_int64s);
        n = poprt_put_int(list, n, "replaced_value_int64", attrs->replaced_value_int64);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "Imputer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_label_encoder_attrs {
    const char *name;
    const poprt_tensor *keys_tensor;
    poprt_string_list keys_strings;
    poprt_int_list keys_int64s;
    poprt_float_list keys_floats;
    const poprt_tensor *values_tensor;
    poprt_string_list values_strings;
    poprt_int_list values_int64s;
    poprt_float_list values_floats;
    const char *default_string; /* default _Unused */
    poprt_optional_int default_int64; /* default -1 */
    poprt_optional_float default_float; /* default 0 */
    const poprt_tensor *default_tensor;
} poprt_ml_label_encoder_attrs;

/* LabelEncoder, ai.onnx.ml 1, 2, 4. */
static inline poprt_id poprt_op_ml_label_encoder(poprt_builder *builder, poprt_id x,
    const poprt_ml_label_encoder_attrs *attrs)
{
    poprt_attr list[12];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "keys_tensor", POPRT_ATTR_TENSOR, attrs->keys_tensor);
        n = poprt_put_strings(list, n, "keys_strings", attrs->keys_strings);
        n = poprt_put_ints(list, n, "keys_int64s", attrs->keys_int64s);
        n = poprt_put_floats(list, n, "keys_floats", attrs->keys_floats);
        n = poprt_put_object(list, n, "values_tensor", POPRT_ATTR_TENSOR, attrs->values_tensor);
        n = poprt_put_strings(list, n, "values_strings", attrs->values_strings);
        n = poprt_put_ints(list, n, "values_int64s", attrs->values_int64s);
        n = poprt_put_floats(list, n, "values_floats", attrs->values_floats);
        n = poprt_put_string(list, n, "default_string", attrs->default_string);
        n = poprt_put_int(list, n, "default_int64", attrs->default_int64);
        n = poprt_put_float(list, n, "default_float", attrs->default_float);
        n = poprt_put_object(list, n, "default_tensor", POPRT_ATTR_TENSOR, attrs->default_tensor);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "LabelEncoder",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_linear_classifier_attrs {
    const char *name;
    poprt_float_list coefficients;
    poprt_float_list intercepts;
    poprt_optional_int multi_class; /* default 0 */
    poprt_string_list classlabels_strings;
    poprt_int_list classlabels_ints;
    const char *post_transform; /* default NONE */
} poprt_ml_linear_classifier_attrs;

/* LinearClassifier, ai.onnx.ml 1. Outputs: Y, Z. */
static inline poprt_id poprt_op_ml_linear_classifier(poprt_builder *builder, poprt_id x,
    const poprt_ml_linear_classifier_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "coefficients", attrs->coefficients);
        n = poprt_put_floats(list, n, "intercepts", attrs->intercepts);
        n = poprt_put_int(list, n, "multi_class", attrs->multi_class);
        n = poprt_put_strings(list, n, "classlabels_strings", attrs->classlabels_strings);
        n = poprt_put_ints(list, n, "classlabels_ints", attrs->classlabels_ints);
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "LinearClassifier",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ml_linear_regressor_attrs {
    const char *name;
    const char *post_transform; /* default NONE */
    poprt_float_list coefficients;
    poprt_float_list intercepts;
    poprt_optional_int targets; /* default 1 */
} poprt_ml_linear_regressor_attrs;

/* LinearRegressor, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_linear_regressor(poprt_builder *builder, poprt_id x,
    const poprt_ml_linear_regressor_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_floats(list, n, "coefficients", attrs->coefficients);
        n = poprt_put_floats(list, n, "intercepts", attrs->intercepts);
        n = poprt_put_int(list, n, "targets", attrs->targets);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "LinearRegressor",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_normalizer_attrs {
    const char *name;
    const char *norm; /* default MAX */
} poprt_ml_normalizer_attrs;

/* Normalizer, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_normalizer(poprt_builder *builder, poprt_id x,
    const poprt_ml_normalizer_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "norm", attrs->norm);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "Normalizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_one_hot_encoder_attrs {
    const char *name;
    poprt_int_list cats_int64s;
    poprt_string_list cats_strings;
    poprt_optional_int zeros; /* default 1 */
} poprt_ml_one_hot_encoder_attrs;

/* OneHotEncoder, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_one_hot_encoder(poprt_builder *builder, poprt_id x,
    const poprt_ml_one_hot_encoder_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "cats_int64s", attrs->cats_int64s);
        n = poprt_put_strings(list, n, "cats_strings", attrs->cats_strings);
        n = poprt_put_int(list, n, "zeros", attrs->zeros);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "OneHotEncoder",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_scaler_attrs {
    const char *name;
    poprt_float_list offset;
    poprt_float_list scale;
} poprt_ml_scaler_attrs;

/* Scaler, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_scaler(poprt_builder *builder, poprt_id x,
    const poprt_ml_scaler_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "offset", attrs->offset);
        n = poprt_put_floats(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "Scaler",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_svm_classifier_attrs {
    const char *name;
    const char *kernel_type; /* default LINEAR */
    poprt_float_list kernel_params;
    poprt_int_list vectors_per_class;
    poprt_float_list prob_a;
    poprt_float_list prob_b;
    poprt_float_list coefficients;
    poprt_float_list support_vectors;
    poprt_float_list rho;
    const char *post_transform; /* default NONE */
    poprt_string_list classlabels_strings;
    poprt_int_list classlabels_ints;
} poprt_ml_svm_classifier_attrs;

/* SVMClassifier, ai.onnx.ml 1. Outputs: Y, Z. */
static inline poprt_id poprt_op_ml_svm_classifier(poprt_builder *builder, poprt_id x,
    const poprt_ml_svm_classifier_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[11];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "kernel_type", attrs->kernel_type);
        n = poprt_put_floats(list, n, "kernel_params", attrs->kernel_params);
        n = poprt_put_ints(list, n, "vectors_per_class", attrs->vectors_per_class);
        n = poprt_put_floats(list, n, "prob_a", attrs->prob_a);
        n = poprt_put_floats(list, n, "prob_b", attrs->prob_b);
        n = poprt_put_floats(list, n, "coefficients", attrs->coefficients);
        n = poprt_put_floats(list, n, "support_vectors", attrs->support_vectors);
        n = poprt_put_floats(list, n, "rho", attrs->rho);
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_strings(list, n, "classlabels_strings", attrs->classlabels_strings);
        n = poprt_put_ints(list, n, "classlabels_ints", attrs->classlabels_ints);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "SVMClassifier",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ml_svm_regressor_attrs {
    const char *name;
    const char *kernel_type; /* default LINEAR */
    poprt_float_list kernel_params;
    poprt_float_list coefficients;
    poprt_float_list support_vectors;
    poprt_optional_int n_supports; /* default 0 */
    poprt_float_list rho;
    const char *post_transform; /* default NONE */
    poprt_optional_int one_class; /* default 0 */
} poprt_ml_svm_regressor_attrs;

/* SVMRegressor, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_svm_regressor(poprt_builder *builder, poprt_id x,
    const poprt_ml_svm_regressor_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "kernel_type", attrs->kernel_type);
        n = poprt_put_floats(list, n, "kernel_params", attrs->kernel_params);
        n = poprt_put_floats(list, n, "coefficients", attrs->coefficients);
        n = poprt_put_floats(list, n, "support_vectors", attrs->support_vectors);
        n = poprt_put_int(list, n, "n_supports", attrs->n_supports);
        n = poprt_put_floats(list, n, "rho", attrs->rho);
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_int(list, n, "one_class", attrs->one_class);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "SVMRegressor",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_tree_ensemble_attrs {
    const char *name;
    poprt_optional_int n_targets; /* default 0 */
    poprt_optional_int aggregate_function; /* default 1 */
    poprt_optional_int post_transform; /* default 0 */
    poprt_int_list tree_roots;
    poprt_int_list nodes_featureids;
    const poprt_tensor *nodes_modes;
    const poprt_tensor *nodes_splits;
    const poprt_tensor *nodes_hitrates;
    poprt_int_list nodes_missing_value_tracks_true;
    poprt_int_list nodes_truenodeids;
    poprt_int_list nodes_falsenodeids;
    poprt_int_list nodes_trueleafs;
    poprt_int_list nodes_falseleafs;
    const poprt_tensor *membership_values;
    poprt_int_list leaf_targetids;
    const poprt_tensor *leaf_weights;
} poprt_ml_tree_ensemble_attrs;

/* TreeEnsemble, ai.onnx.ml 5. */
static inline poprt_id poprt_op_ml_tree_ensemble(poprt_builder *builder, poprt_id x,
    const poprt_ml_tree_ensemble_attrs *attrs)
{
    poprt_attr list[16];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "n_targets", attrs->n_targets);
        n = poprt_put_int(list, n, "aggregate_function", attrs->aggregate_function);
        n = poprt_put_int(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_ints(list, n, "tree_roots", attrs->tree_roots);
        n = poprt_put_ints(list, n, "nodes_featureids", attrs->nodes_featureids);
        n = poprt_put_object(list, n, "nodes_modes", POPRT_ATTR_TENSOR, attrs->nodes_modes);
        n = poprt_put_object(list, n, "nodes_splits", POPRT_ATTR_TENSOR, attrs->nodes_splits);
        n = poprt_put_object(list, n, "nodes_hitrates", POPRT_ATTR_TENSOR, attrs->nodes_hitrates);
        n = poprt_put_ints(list, n, "nodes_missing_value_tracks_true",
            attrs->nodes_missing_value_tracks_true);
        n = poprt_put_ints(list, n, "nodes_truenodeids", attrs->nodes_truenodeids);
        n = poprt_put_ints(list, n, "nodes_falsenodeids", attrs->nodes_falsenodeids);
        n = poprt_put_ints(list, n, "nodes_trueleafs", attrs->nodes_trueleafs);
        n = poprt_put_ints(list, n, "nodes_falseleafs", attrs->nodes_falseleafs);
        n = poprt_put_object(list, n, "membership_values", POPRT_ATTR_TENSOR,
            attrs->membership_values);
        n = poprt_put_ints(list, n, "leaf_targetids", attrs->leaf_targetids);
        n = poprt_put_object(list, n, "leaf_weights", POPRT_ATTR_TENSOR, attrs->leaf_weights);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "TreeEnsemble",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_tree_ensemble_classifier_attrs {
    const char *name;
    poprt_int_list nodes_treeids;
    poprt_int_list nodes_nodeids;
    poprt_int_list nodes_featureids;
    poprt_float_list nodes_values;
    const poprt_tensor *nodes_values_as_tensor;
    poprt_float_list nodes_hitrates;
    const poprt_tensor *nodes_hitrates_as_tensor;
    poprt_string_list nodes_modes;
    poprt_int_list nodes_truenodeids;
    poprt_int_list nodes_falsenodeids;
    poprt_int_list nodes_missing_value_tracks_true;
    poprt_int_list class_treeids;
    poprt_int_list class_nodeids;
    poprt_int_list class_ids;
    poprt_float_list class_weights;
    const poprt_tensor *class_weights_as_tensor;
    poprt_string_list classlabels_strings;
    poprt_int_list classlabels_int64s;
    const char *post_transform; /* default NONE */
    poprt_float_list base_values;
    const poprt_tensor *base_values_as_tensor;
} poprt_ml_tree_ensemble_classifier_attrs;

/* TreeEnsembleClassifier, ai.onnx.ml 3. Outputs: Y, Z. */
static inline poprt_id poprt_op_ml_tree_ensemble_classifier(poprt_builder *builder, poprt_id x,
    const poprt_ml_tree_ensemble_classifier_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[21];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "nodes_treeids", attrs->nodes_treeids);
        n = poprt_put_ints(list, n, "nodes_nodeids", attrs->nodes_nodeids);
        n = poprt_put_ints(list, n, "nodes_featureids", attrs->nodes_featureids);
        n = poprt_put_floats(list, n, "nodes_values", attrs->nodes_values);
        n = poprt_put_object(list, n, "nodes_values_as_tensor", POPRT_ATTR_TENSOR,
            attrs->nodes_values_as_tensor);
        n = poprt_put_floats(list, n, "nodes_hitrates", attrs->nodes_hitrates);
        n = poprt_put_object(list, n, "nodes_hitrates_as_tensor", POPRT_ATTR_TENSOR,
            attrs->nodes_hitrates_as_tensor);
        n = poprt_put_strings(list, n, "nodes_modes", attrs->nodes_modes);
        n = poprt_put_ints(list, n, "nodes_truenodeids", attrs->nodes_truenodeids);
        n = poprt_put_ints(list, n, "nodes_falsenodeids", attrs->nodes_falsenodeids);
        n = poprt_put_ints(list, n, "nodes_missing_value_tracks_true",
            attrs->nodes_missing_value_tracks_true);
        n = poprt_put_ints(list, n, "class_treeids", attrs->class_treeids);
        n = poprt_put_ints(list, n, "class_nodeids", attrs->class_nodeids);
        n = poprt_put_ints(list, n, "class_ids", attrs->class_ids);
        n = poprt_put_floats(list, n, "class_weights", attrs->class_weights);
        n = poprt_put_object(list, n, "class_weights_as_tensor", POPRT_ATTR_TENSOR,
            attrs->class_weights_as_tensor);
        n = poprt_put_strings(list, n, "classlabels_strings", attrs->classlabels_strings);
        n = poprt_put_ints(list, n, "classlabels_int64s", attrs->classlabels_int64s);
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_floats(list, n, "base_values", attrs->base_values);
        n = poprt_put_object(list, n, "base_values_as_tensor", POPRT_ATTR_TENSOR,
            attrs->base_values_as_tensor);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "TreeEnsembleClassifier",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ml_tree_ensemble_regressor_attrs {
    const char *name;
    poprt_int_list nodes_treeids;
    poprt_int_list nodes_nodeids;
    poprt_int_list nodes_featureids;
    poprt_float_list nodes_values;
    const poprt_tensor *nodes_values_as_tensor;
    poprt_float_list nodes_hitrates;
    const poprt_tensor *nodes_hitrates_as_tensor;
    poprt_string_list nodes_modes;
    poprt_int_list nodes_truenodeids;
    poprt_int_list nodes_falsenodeids;
    poprt_int_list nodes_missing_value_tracks_true;
    poprt_int_list target_treeids;
    poprt_int_list target_nodeids;
    poprt_int_list target_ids;
    poprt_float_list target_weights;
    const poprt_tensor *target_weights_as_tensor;
    poprt_optional_int n_targets; /* default 0 */
    const char *post_transform; /* default NONE */
    poprt_float_list base_values;
    const poprt_tensor *base_values_as_tensor;
    const char *aggregate_function; /* default SUM */
} poprt_ml_tree_ensemble_regressor_attrs;

/* TreeEnsembleRegressor, ai.onnx.ml 3. */
static inline poprt_id poprt_op_ml_tree_ensemble_regressor(poprt_builder *builder, poprt_id x,
    const poprt_ml_tree_ensemble_regressor_attrs *attrs)
{
    poprt_attr list[21];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "nodes_treeids", attrs->nodes_treeids);
        n = poprt_put_ints(list, n, "nodes_nodeids", attrs->nodes_nodeids);
        n = poprt_put_ints(list, n, "nodes_featureids", attrs->nodes_featureids);
        n = poprt_put_floats(list, n, "nodes_values", attrs->nodes_values);
        n = poprt_put_object(list, n, "nodes_values_as_tensor", POPRT_ATTR_TENSOR,
            attrs->nodes_values_as_tensor);
        n = poprt_put_floats(list, n, "nodes_hitrates", attrs->nodes_hitrates);
        n = poprt_put_object(list, n, "nodes_hitrates_as_tensor", POPRT_ATTR_TENSOR,
            attrs->nodes_hitrates_as_tensor);
        n = poprt_put_strings(list, n, "nodes_modes", attrs->nodes_modes);
        n = poprt_put_ints(list, n, "nodes_truenodeids", attrs->nodes_truenodeids);
        n = poprt_put_ints(list, n, "nodes_falsenodeids", attrs->nodes_falsenodeids);
        n = poprt_put_ints(list, n, "nodes_missing_value_tracks_true",
            attrs->nodes_missing_value_tracks_true);
        n = poprt_put_ints(list, n, "target_treeids", attrs->target_treeids);
        n = poprt_put_ints(list, n, "target_nodeids", attrs->target_nodeids);
        n = poprt_put_ints(list, n, "target_ids", attrs->target_ids);
        n = poprt_put_floats(list, n, "target_weights", attrs->target_weights);
        n = poprt_put_object(list, n, "target_weights_as_tensor", POPRT_ATTR_TENSOR,
            attrs->target_weights_as_tensor);
        n = poprt_put_int(list, n, "n_targets", attrs->n_targets);
        n = poprt_put_string(list, n, "post_transform", attrs->post_transform);
        n = poprt_put_floats(list, n, "base_values", attrs->base_values);
        n = poprt_put_object(list, n, "base_values_as_tensor", POPRT_ATTR_TENSOR,
            attrs->base_values_as_tensor);
        n = poprt_put_string(list, n, "aggregate_function", attrs->aggregate_function);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "TreeEnsembleRegressor",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ml_zip_map_attrs {
    const char *name;
    poprt_string_list classlabels_strings;
    poprt_int_list classlabels_int64s;
} poprt_ml_zip_map_attrs;

/* ZipMap, ai.onnx.ml 1. */
static inline poprt_id poprt_op_ml_zip_map(poprt_builder *builder, poprt_id x,
    const poprt_ml_zip_map_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_strings(list, n, "classlabels_strings", attrs->classlabels_strings);
        n = poprt_put_ints(list, n, "classlabels_int64s", attrs->classlabels_int64s);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.ml", "ZipMap",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
