# SPDX-License-Identifier: MIT
"""The classes of PopRT's pass reference: a row of name, class and constructor of each pass.

The other passes of the library have the class ``poprt.passes.<name>.<NameInCamelCase>``, whose
constructor takes their options (``poprt.pass_options``)."""

#: Passes whose class in the module apply_ir_pass has the name of the pass.
IR_PASSES = """
eliminate_deadend eliminate_duplicate_initializer eliminate_identity eliminate_nop_arithmetic
eliminate_nop_cast eliminate_nop_expand eliminate_nop_flatten eliminate_nop_if eliminate_nop_pad
eliminate_nop_reshape eliminate_nop_transpose eliminate_unused_initializer
extract_constant_to_initializer fuse_bn_into_conv fuse_consecutive_cast fuse_consecutive_reshape
fuse_consecutive_squeeze fuse_consecutive_transpose fuse_consecutive_unsqueeze
replace_einsum_with_matmul trace_folding unique_name_for_nodes
""".split()

#: Passes whose module or class follows no rule.
CLASSES = {
    "batchnorm_workaround": "workarounds.BatchNormWorkaround",
    "cumsum_workaround": "workarounds.CumSumWorkaround",
    "float_ops_workaround": "workarounds.FloatOpsWorkaround",
    "indices_workaround": "workarounds.IndicesWorkaround",
    "onehot_workaround": "workarounds.OneHotWorkaround",
    "topk_workaround": "workarounds.TopKWorkaround",
    "float_to_fp8": "float_to_fp8.Float2FP8",
    "float_to_half": "float_to_half.Float2Half",
    "float_to_int8": "float_to_int8.Float2Int8",
    "float_to_mixed": "float_to_mixed.Float2Mixed",
    "int64_to_int32": "int64_to_int32.Int64ToInt32",
    "replace_bn_with_mul_add": "replace_bn_with_mul_add.ReplaceBNWithMulAdd",
    "replace_clip_empty_inputs": "replace_clip_empty_inputs.ReplaceHardSwish",
    "replace_consecutive_cast_with_notzero":
        "replace_consecutive_cast_with_notzero.ReplaceConsecuiveCastWithNotZero",
    "replace_erf_with_erfv2": "replace_erf_with_erfv2.ReplaceErfWithErfV2",
    "replace_groupnorm_with_fast_norm":
        "replace_groupnorm_with_fast_norm.ReplaceGroupNormWithFastNorm",
    "replace_half_reducemean": "replace_half_reducemean.ReplaceHalfReduceMean",
    "replace_hardswish": "replace_hardswish.ReplaceHardSwish",
    "replace_nonzero": "replace_nonzero.ReplaceNonZero",
    "replace_where_with_wherev2": "replace_where_with_wherev2.ReplaceWhereWithWhereV2",
    "shape_inference": "shape_inference.ReplacePow",
}

#: Constructors with parameters, where these are not the options of the pass in their order.
SIGNATURES = {
    "add_checkpoints": "checkpoints",
    "apply_host_concat_split": "merged_inputs, remap=False",
    "apply_ir_pass": "passes=[]",
    "auto_insert_remap": "remap_mode=['after_matmul']",
    "check_with_fake_data": "origin_model, tolerance=0.05",
    "const_batch_size": "const_batch_size=1",
    "const_input_shape": "const_input_shape={}, batch_size=None, batch_axis=None",
    "constant_folding": "max_tensor_size=-1, fold_shared=True, fold_quantized=True",
    "float_to_fp8": "fp8_params=['F143', 'F143', 0, 0], skip_op_names=[], convert_model='fp8', "
                    "fp8_input_dict=None, fp8_weight_dict=None, skip_op=True",
    "float_to_half": "skip_op_types=[], enable_avoid_overflow_patterns=False",
    "float_to_int8": "int8_offset_scale=None",
    "layer_precision_compare": "origin_model, data_preprocess=None, options=None, output_dir='./'",
    "manual_sharding": "sharding_info=None, pipelining_info=None",
    "merge_matmul": "merge_str",
    "merge_matmul_add": "merge_str",
    "merge_moe": "merge_str",
    "model_io_info_stat": "use_print=True",
    "model_overview": "use_print=True",
    "packed_transformer": "args",
    "remove_outputs": "outputs=[]",
    "serialize_matmul": "serialize_dict=None",
    "serialize_matmul_add": "serialize_dict=None",
}


def class_path(name):
    """Returns the module and the class of a pass."""
    if name in IR_PASSES:
        return "apply_ir_pass", name
    path = CLASSES.get(name)
    if path is None:
        return name, "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    module, _, cls = path.partition(".")
    return module, cls


def signature(name, options):
    """Returns the parameters of a pass as text; ``options`` are rows of poprt._core."""
    if name in SIGNATURES:
        return SIGNATURES[name]
    return ", ".join(row[0] + "=None" for row in options)
