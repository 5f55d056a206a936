# SPDX-License-Identifier: MIT
"""Operators of ai.onnx 6 to 11 and ai.onnx.ml 1, from the schemas of ONNX. Made by
tests/python/signatures.py.

A line: type, version, fewest and most inputs, fewest and most outputs (99: any number),
attributes with kind (i, f, s: numbers and text; is, fs, ss: lists; t: tensor; g: graph),
! if required, and default."""

ONNX = """
Abs 1 1 1 1 1
Abs 6 1 1 1 1
Acos 7 1 1 1 1
Acosh 9 1 1 1 1
Add 1 2 2 1 1 axis:i broadcast:i=0
Add 6 2 2 1 1 axis:i broadcast:i=0
Add 7 2 2 1 1
And 1 2 2 1 1 axis:i broadcast:i=0
And 7 2 2 1 1
ArgMax 1 1 1 1 1 axis:i=0 keepdims:i=1
ArgMax 11 1 1 1 1 axis:i=0 keepdims:i=1
ArgMin 1 1 1 1 1 axis:i=0 keepdims:i=1
ArgMin 11 1 1 1 1 axis:i=0 keepdims:i=1
Asin 7 1 1 1 1
Asinh 9 1 1 1 1
Atan 7 1 1 1 1
Atanh 9 1 1 1 1
AveragePool 1 1 1 1 1 kernel_shape:is! pads:is strides:is
AveragePool 7 1 1 1 1 count_include_pad:i=0 kernel_shape:is! pads:is strides:is
AveragePool 10 1 1 1 1 ceil_mode:i=0 count_include_pad:i=0 kernel_shape:is! pads:is strides:is
AveragePool 11 1 1 1 1 ceil_mode:i=0 count_include_pad:i=0 kernel_shape:is! pads:is strides:is
BatchNormalization 1 5 5 1 5 epsilon:f=1e-05 is_test:i=0 momentum:f=0.9 spatial:i=1
BatchNormalization 6 5 5 1 5 epsilon:f=1e-05 is_test:i=0 momentum:f=0.9 spatial:i=1
BatchNormalization 7 5 5 1 5 epsilon:f=1e-05 momentum:f=0.9 spatial:i=1
BatchNormalization 9 5 5 1 5 epsilon:f=1e-05 momentum:f=0.9
BitShift 11 2 2 1 1 direction:s!
Cast 1 1 1 1 1 to:s!
Cast 6 1 1 1 1 to:i!
Cast 9 1 1 1 1 to:i!
Ceil 1 1 1 1 1
Ceil 6 1 1 1 1
Clip 1 1 1 1 1 max:f min:f
Clip 6 1 1 1 1 max:f=3.4028234663852886e+38 min:f=-3.4028234663852886e+38
Clip 11 1 3 1 1
Compress 9 2 2 1 1 axis:i
Compress 11 2 2 1 1 axis:i
Concat 1 1 99 1 1 axis:i
Concat 4 1 99 1 1 axis:i!
Concat 11 1 99 1 1 axis:i!
ConcatFromSequence 11 1 1 1 1 axis:i! new_axis:i=0
Constant 1 0 0 1 1 value:t!
Constant 9 0 0 1 1 value:t!
Constant 11 0 0 1 1 value:t
ConstantOfShape 9 1 1 1 1 value:t
Conv 1 2 3 1 1 dilations:is group:i=1 kernel_shape:is pads:is strides:is
Conv 11 2 3 1 1 dilations:is group:i=1 kernel_shape:is pads:is strides:is
ConvInteger 10 2 4 1 1 dilations:is group:i=1 kernel_shape:is pads:is strides:is
ConvTranspose 1 2 3 1 1 dilations:is group:i=1 kernel_shape:is output_padding:is output_shape:is pads:is strides:is
ConvTranspose 11 2 3 1 1 dilations:is group:i=1 kernel_shape:is output_padding:is output_shape:is pads:is strides:is
Cos 7 1 1 1 1
Cosh 9 1 1 1 1
CumSum 11 2 2 1 1 exclusive:i=0 reverse:i=0
DepthToSpace 1 1 1 1 1 blocksize:i!
DepthToSpace 11 1 1 1 1 blocksize:i! mode:s=DCR
DequantizeLinear 10 2 3 1 1
Det 11 1 1 1 1
Div 1 2 2 1 1 axis:i broadcast:i=0
Div 6 2 2 1 1 axis:i broadcast:i=0
Div 7 2 2 1 1
Dropout 1 1 1 1 2 is_test:i=0 ratio:f=0.5
Dropout 6 1 1 1 2 is_test:i=0 ratio:f=0.5
Dropout 7 1 1 1 2 ratio:f=0.5
Dropout 10 1 1 1 2 ratio:f=0.5
DynamicQuantizeLinear 11 1 1 3 3
Elu 1 1 1 1 1 alpha:f=1.0
Elu 6 1 1 1 1 alpha:f=1.0
Equal 1 2 2 1 1 axis:i broadcast:i=0
Equal 7 2 2 1 1
Equal 11 2 2 1 1
Erf 9 1 1 1 1
Exp 1 1 1 1 1
Exp 6 1 1 1 1
Expand 8 2 2 1 1
EyeLike 9 1 1 1 1 dtype:i k:i=0
Flatten 1 1 1 1 1 axis:i=1
Flatten 9 1 1 1 1 axis:i=1
Flatten 11 1 1 1 1 axis:i=1
Floor 1 1 1 1 1
Floor 6 1 1 1 1
GRU 1 3 6 2 2 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=foward hidden_size:i output_sequence:i=0
GRU 3 3 6 0 2 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i linear_before_reset:i=0 output_sequence:i=0
GRU 7 3 6 0 2 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i linear_before_reset:i=0
Gather 1 2 2 1 1 axis:i=0
Gather 11 2 2 1 1 axis:i=0
GatherElements 11 2 2 1 1 axis:i=0
GatherND 11 2 2 1 1
Gemm 1 3 3 1 1 alpha:f=1.0 beta:f=1.0 broadcast:i=0 transA:i=0 transB:i=0
Gemm 6 3 3 1 1 alpha:f=1.0 beta:f=1.0 broadcast:i=0 transA:i=0 transB:i=0
Gemm 7 3 3 1 1 alpha:f=1.0 beta:f=1.0 transA:i=0 transB:i=0
Gemm 9 3 3 1 1 alpha:f=1.0 beta:f=1.0 transA:i=0 transB:i=0
Gemm 11 2 3 1 1 alpha:f=1.0 beta:f=1.0 transA:i=0 transB:i=0
GlobalAveragePool 1 1 1 1 1
GlobalLpPool 1 1 1 1 1 p:f=2.0
GlobalLpPool 2 1 1 1 1 p:i=2
GlobalMaxPool 1 1 1 1 1
Greater 1 2 2 1 1 axis:i broadcast:i=0
Greater 7 2 2 1 1
Greater 9 2 2 1 1
HardSigmoid 1 1 1 1 1 alpha:f=0.2 beta:f=0.5
HardSigmoid 6 1 1 1 1 alpha:f=0.2 beta:f=0.5
Hardmax 1 1 1 1 1 axis:i=1
Hardmax 11 1 1 1 1 axis:i=1
Identity 1 1 1 1 1
If 1 1 1 1 99 else_branch:g! then_branch:g!
If 11 1 1 1 99 else_branch:g! then_branch:g!
InstanceNormalization 1 3 3 1 1 epsilon:f=1e-05
InstanceNormalization 6 3 3 1 1 epsilon:f=1e-05
IsInf 10 1 1 1 1 detect_negative:i=1 detect_positive:i=1
IsNaN 9 1 1 1 1
LRN 1 1 1 1 1 alpha:f=0.0001 beta:f=0.75 bias:f=1.0 size:i!
LSTM 1 3 8 0 3 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i input_forget:i=0 output_sequence:i=0
LSTM 7 3 8 0 3 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i input_forget:i=0
LeakyRelu 1 1 1 1 1 alpha:f=0.01
LeakyRelu 6 1 1 1 1 alpha:f=0.01
Less 1 2 2 1 1 axis:i broadcast:i=0
Less 7 2 2 1 1
Less 9 2 2 1 1
Log 1 1 1 1 1
Log 6 1 1 1 1
LogSoftmax 1 1 1 1 1 axis:i=1
LogSoftmax 11 1 1 1 1 axis:i=1
Loop 1 3 99 1 99 body:g!
Loop 11 2 99 1 99 body:g!
LpNormalization 1 1 1 1 1 axis:i=-1 p:i=2
LpPool 1 1 1 1 1 kernel_shape:is p:f=2.0 pads:is strides:is
LpPool 2 1 1 1 1 kernel_shape:is! p:i=2 pads:is strides:is
LpPool 11 1 1 1 1 kernel_shape:is! p:i=2 pads:is strides:is
MatMul 1 2 2 1 1
MatMul 9 2 2 1 1
MatMulInteger 10 2 4 1 1
Max 1 1 99 1 1
Max 6 1 99 1 1
Max 8 1 99 1 1
MaxPool 1 1 1 1 1 kernel_shape:is! pads:is strides:is
MaxPool 8 1 1 1 2 kernel_shape:is! pads:is storage_order:i=0 strides:is
MaxPool 10 1 1 1 2 ceil_mode:i=0 dilations:is kernel_shape:is! pads:is storage_order:i=0 strides:is
MaxPool 11 1 1 1 2 ceil_mode:i=0 dilations:is kernel_shape:is! pads:is storage_order:i=0 strides:is
MaxRoiPool 1 2 2 1 1 pooled_shape:is! spatial_scale:f=1.0
MaxUnpool 9 2 3 1 1 kernel_shape:is! pads:is strides:is
MaxUnpool 11 2 3 1 1 kernel_shape:is! pads:is strides:is
Mean 1 1 99 1 1
Mean 6 1 99 1 1
Mean 8 1 99 1 1
MeanVarianceNormalization 9 1 1 1 1 axes:is
Min 1 1 99 1 1
Min 6 1 99 1 1
Min 8 1 99 1 1
Mod 10 2 2 1 1 fmod:i=0
Mul 1 2 2 1 1 axis:i broadcast:i=0
Mul 6 2 2 1 1 axis:i broadcast:i=0
Mul 7 2 2 1 1
Multinomial 7 1 1 1 1 dtype:i=6 sample_size:i=1 seed:f
Neg 1 1 1 1 1
Neg 6 1 1 1 1
NonMaxSuppression 10 2 5 1 1 center_point_box:i=0
NonMaxSuppression 11 2 5 1 1 center_point_box:i=0
NonZero 9 1 1 1 1
Not 1 1 1 1 1
OneHot 9 3 3 1 1 axis:i=-1
OneHot 11 3 3 1 1 axis:i=-1
Or 1 2 2 1 1 axis:i broadcast:i=0
Or 7 2 2 1 1
PRelu 1 2 2 1 1
PRelu 6 2 2 1 1
PRelu 7 2 2 1 1
PRelu 9 2 2 1 1
Pad 1 1 1 1 1 mode:s=constant paddings:is! value:f=0.0
Pad 2 1 1 1 1 mode:s=constant pads:is! value:f=0.0
Pad 11 2 3 1 1 mode:s=constant
Pow 1 2 2 1 1 axis:i broadcast:i=0
Pow 7 2 2 1 1
QLinearConv 10 8 9 1 1 dilations:is group:i=1 kernel_shape:is pads:is strides:is
QLinearMatMul 10 8 8 1 1
QuantizeLinear 10 2 3 1 1
RNN 1 3 6 0 2 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i output_sequence:i=0
RNN 7 3 6 0 2 activation_alpha:fs activation_beta:fs activations:ss clip:f direction:s=forward hidden_size:i
RandomNormal 1 0 0 1 1 dtype:i=1 mean:f=0.0 scale:f=1.0 seed:f shape:is!
RandomNormalLike 1 1 1 1 1 dtype:i mean:f=0.0 scale:f=1.0 seed:f
RandomUniform 1 0 0 1 1 dtype:i=1 high:f=1.0 low:f=0.0 seed:f shape:is!
RandomUniformLike 1 1 1 1 1 dtype:i high:f=1.0 low:f=0.0 seed:f
Range 11 3 3 1 1
Reciprocal 1 1 1 1 1
Reciprocal 6 1 1 1 1
ReduceL1 1 1 1 1 1 axes:is keepdims:i=1
ReduceL1 11 1 1 1 1 axes:is keepdims:i=1
ReduceL2 1 1 1 1 1 axes:is keepdims:i=1
ReduceL2 11 1 1 1 1 axes:is keepdims:i=1
ReduceLogSum 1 1 1 1 1 axes:is keepdims:i=1
ReduceLogSum 11 1 1 1 1 axes:is keepdims:i=1
ReduceLogSumExp 1 1 1 1 1 axes:is keepdims:i=1
ReduceLogSumExp 11 1 1 1 1 axes:is keepdims:i=1
ReduceMax 1 1 1 1 1 axes:is keepdims:i=1
ReduceMax 11 1 1 1 1 axes:is keepdims:i=1
ReduceMean 1 1 1 1 1 axes:is keepdims:i=1
ReduceMean 11 1 1 1 1 axes:is keepdims:i=1
ReduceMin 1 1 1 1 1 axes:is keepdims:i=1
ReduceMin 11 1 1 1 1 axes:is keepdims:i=1
ReduceProd 1 1 1 1 1 axes:is keepdims:i=1
ReduceProd 11 1 1 1 1 axes:is keepdims:i=1
ReduceSum 1 1 1 1 1 axes:is keepdims:i=1
ReduceSum 11 1 1 1 1 axes:is keepdims:i=1
ReduceSumSquare 1 1 1 1 1 axes:is keepdims:i=1
ReduceSumSquare 11 1 1 1 1 axes:is keepdims:i=1
Relu 1 1 1 1 1
Relu 6 1 1 1 1
Reshape 1 1 1 1 1 shape:is
Reshape 5 2 2 1 1
Resize 10 2 2 1 1 mode:s=nearest
Resize 11 3 4 1 1 coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0 extrapolation_value:f=0.0 mode:s=nearest nearest_mode:s=round_prefer_floor
ReverseSequence 10 2 2 1 1 batch_axis:i=1 time_axis:i=0
RoiAlign 10 3 3 1 1 mode:s=avg output_height:i=1 output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1.0
Round 11 1 1 1 1
Scan 8 2 99 1 99 body:g! directions:is num_scan_inputs:i!
Scan 9 1 99 1 99 body:g! num_scan_inputs:i! scan_input_axes:is scan_input_directions:is scan_output_axes:is scan_output_directions:is
Scan 11 1 99 1 99 body:g! num_scan_inputs:i! scan_input_axes:is scan_input_directions:is scan_output_axes:is scan_output_directions:is
Scatter 9 3 3 1 1 axis:i=0
ScatterElements 11 3 3 1 1 axis:i=0
ScatterND 11 3 3 1 1
Selu 1 1 1 1 1 alpha:f=1.6732 gamma:f=1.0507
Selu 6 1 1 1 1 alpha:f=1.67326 gamma:f=1.0507
SequenceAt 11 2 2 1 1
SequenceConstruct 11 1 99 1 1
SequenceEmpty 11 0 0 1 1 dtype:i
SequenceErase 11 1 2 1 1
SequenceInsert 11 2 3 1 1
SequenceLength 11 1 1 1 1
Shape 1 1 1 1 1
Shrink 9 1 1 1 1 bias:f=0.0 lambd:f=0.5
Sigmoid 1 1 1 1 1
Sigmoid 6 1 1 1 1
Sign 9 1 1 1 1
Sin 7 1 1 1 1
Sinh 9 1 1 1 1
Size 1 1 1 1 1
Slice 1 1 1 1 1 axes:is ends:is! starts:is!
Slice 10 3 5 1 1
Slice 11 3 5 1 1
Softmax 1 1 1 1 1 axis:i=1
Softmax 11 1 1 1 1 axis:i=1
Softplus 1 1 1 1 1
Softsign 1 1 1 1 1
SpaceToDepth 1 1 1 1 1 blocksize:i!
Split 1 1 2 1 99 axis:i split:is
Split 2 1 1 1 99 axis:i=0 split:is
Split 11 1 1 1 99 axis:i=0 split:is
SplitToSequence 11 1 2 1 1 axis:i=0 keepdims:i=1
Sqrt 1 1 1 1 1
Sqrt 6 1 1 1 1
Squeeze 1 1 1 1 1 axes:is
Squeeze 11 1 1 1 1 axes:is
StringNormalizer 10 1 1 1 1 case_change_action:s=NONE is_case_sensitive:i=0 locale:s stopwords:ss
Sub 1 2 2 1 1 axis:i broadcast:i=0
Sub 6 2 2 1 1 axis:i broadcast:i=0
Sub 7 2 2 1 1
Sum 1 1 99 1 1
Sum 6 1 99 1 1
Sum 8 1 99 1 1
Tan 7 1 1 1 1
Tanh 1 1 1 1 1
Tanh 6 1 1 1 1
TfIdfVectorizer 9 1 1 1 1 max_gram_length:i! max_skip_count:i! min_gram_length:i! mode:s! ngram_counts:is! ngram_indexes:is! pool_int64s:is pool_strings:ss weights:fs
ThresholdedRelu 10 1 1 1 1 alpha:f=1.0
Tile 1 3 3 1 1
Tile 6 2 2 1 1
TopK 1 1 1 2 2 axis:i=-1 k:i!
TopK 10 2 2 2 2 axis:i=-1
TopK 11 2 2 2 2 axis:i=-1 largest:i=1 sorted:i=1
Transpose 1 1 1 1 1 perm:is
Unique 11 1 1 1 4 axis:i sorted:i=1
Unsqueeze 1 1 1 1 1 axes:is!
Unsqueeze 11 1 1 1 1 axes:is!
Upsample 1 1 1 1 1 height_scale:f! mode:s=nearest width_scale:f!
Upsample 7 1 1 1 1 mode:s=nearest scales:fs!
Upsample 9 2 2 1 1 mode:s=nearest
Where 9 3 3 1 1
Xor 1 2 2 1 1 axis:i broadcast:i=0
Xor 7 2 2 1 1
"""

ML = """
ArrayFeatureExtractor 1 2 2 1 1
Binarizer 1 1 1 1 1 threshold:f=0.0
CastMap 1 1 1 1 1 cast_to:s=TO_FLOAT map_form:s=DENSE max_map:i=1
CategoryMapper 1 1 1 1 1 cats_int64s:is cats_strings:ss default_int64:i=-1 default_string:s=_Unused
DictVectorizer 1 1 1 1 1 int64_vocabulary:is string_vocabulary:ss
FeatureVectorizer 1 1 99 1 1 inputdimensions:is
Imputer 1 1 1 1 1 imputed_value_floats:fs imputed_value_int64s:is replaced_value_float:f=0.0 replaced_value_int64:i=0
LabelEncoder 1 1 1 1 1 classes_strings:ss default_int64:i=-1 default_string:s=_Unused
LinearClassifier 1 1 1 2 2 classlabels_ints:is classlabels_strings:ss coefficients:fs! intercepts:fs multi_class:i=0 post_transform:s=NONE
LinearRegressor 1 1 1 1 1 coefficients:fs intercepts:fs post_transform:s=NONE targets:i=1
Normalizer 1 1 1 1 1 norm:s=MAX
OneHotEncoder 1 1 1 1 1 cats_int64s:is cats_strings:ss zeros:i=1
SVMClassifier 1 1 1 2 2 classlabels_ints:is classlabels_strings:ss coefficients:fs kernel_params:fs kernel_type:s=LINEAR post_transform:s=NONE prob_a:fs prob_b:fs rho:fs support_vectors:fs vectors_per_class:is
SVMRegressor 1 1 1 1 1 coefficients:fs kernel_params:fs kernel_type:s=LINEAR n_supports:i=0 one_class:i=0 post_transform:s=NONE rho:fs support_vectors:fs
Scaler 1 1 1 1 1 offset:fs scale:fs
TreeEnsembleClassifier 1 1 1 2 2 base_values:fs class_ids:is class_nodeids:is class_treeids:is class_weights:fs classlabels_int64s:is classlabels_strings:ss nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is nodes_truenodeids:is nodes_values:fs post_transform:s=NONE
TreeEnsembleRegressor 1 1 1 1 1 aggregate_function:s=SUM base_values:fs n_targets:i nodes_falsenodeids:is nodes_featureids:is nodes_hitrates:fs nodes_missing_value_tracks_true:is nodes_modes:ss nodes_nodeids:is nodes_treeids:is nodes_truenodeids:is nodes_values:fs post_transform:s=NONE target_ids:is target_nodeids:is target_treeids:is target_weights:fs
ZipMap 1 1 1 1 1 classlabels_int64s:is classlabels_strings:ss
"""
