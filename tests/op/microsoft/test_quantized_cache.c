/* SPDX-License-Identifier: MIT */
/* test_quantized_cache.c — GroupQueryAttention with quantised caches. Expected values for integers
 * come from onnxruntime 1.31.1; values for float8 are worked out by hand. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

#define BOTH "k_quant_type=PER_TENSOR, v_quant_type=PER_TENSOR"

START_TEST(int8_caches_have_their_values)
{
    ck_result_near(
        "q = const f32[1,1,16] {-0.8,-1.3,-0.2,0.4,1.1,0.1,-0.6,-0.8,0.7,1.6,0.3,-1.2,-1,1.6,0.2,"
        "-1.7}\n"
        "k = const f32[1,1,8] {-0.1,-1.2,-0.6,-0.5,-0.7,0.6,-0.1,-0.6}\n"
        "v = const f32[1,1,8] {0.4,0.8,-1.6,-0.3,-1,-0.2,-1.3,0}\n"
        "pk = const i8[1,1,2,8] {-19,0,-7,-3,17,-12,1,-8,-9,12,-14,-8,-16,-15,-9,7}\n"
        "pv = const i8[1,1,2,8] {-8,1,-12,17,-3,-7,0,-19,7,-9,-15,-16,-8,-14,12,-9}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1] {0.07}\n"
        "vs = const f32[1] {0.09}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=8, k_quant_type=PER_TENSOR, "
        "v_quant_type=PER_TENSOR}\n"
        "return y\n",
        "f32[1,1,16] {-0.20664181,0.24236143,-1.2939568,0.5984521,-0.56476945,-0.54189456,"
        "-0.3188488,-1.0277236,0.2853958,0.18623559,-1.4535416,-0.37527096,-0.79675686,"
        "-0.59137887,-0.32627004,-0.51276785}",
        1e-5);
    ck_result(
        "q = const f32[1,1,16] {-0.8,-1.3,-0.2,0.4,1.1,0.1,-0.6,-0.8,0.7,1.6,0.3,-1.2,-1,1.6,0.2,"
        "-1.7}\n"
        "k = const f32[1,1,8] {-0.1,-1.2,-0.6,-0.5,-0.7,0.6,-0.1,-0.6}\n"
        "v = const f32[1,1,8] {0.4,0.8,-1.6,-0.3,-1,-0.2,-1.3,0}\n"
        "pk = const i8[1,1,2,8] {-19,0,-7,-3,17,-12,1,-8,-9,12,-14,-8,-16,-15,-9,7}\n"
        "pv = const i8[1,1,2,8] {-8,1,-12,17,-3,-7,0,-19,7,-9,-15,-16,-8,-14,12,-9}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1] {0.07}\n"
        "vs = const f32[1] {0.09}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=8, k_quant_type=PER_TENSOR, "
        "v_quant_type=PER_TENSOR}\n"
        "return ok\n",
        "i8[1,1,3,8] {-19,0,-7,-3,17,-12,1,-8,-9,12,-14,-8,-16,-15,-9,7,-1,-17,-9,-7,-10,9,-1,-9}");
    ck_result(
        "q = const f32[1,1,16] {-0.8,-1.3,-0.2,0.4,1.1,0.1,-0.6,-0.8,0.7,1.6,0.3,-1.2,-1,1.6,0.2,"
        "-1.7}\n"
        "k = const f32[1,1,8] {-0.1,-1.2,-0.6,-0.5,-0.7,0.6,-0.1,-0.6}\n"
        "v = const f32[1,1,8] {0.4,0.8,-1.6,-0.3,-1,-0.2,-1.3,0}\n"
        "pk = const i8[1,1,2,8] {-19,0,-7,-3,17,-12,1,-8,-9,12,-14,-8,-16,-15,-9,7}\n"
        "pv = const i8[1,1,2,8] {-8,1,-12,17,-3,-7,0,-19,7,-9,-15,-16,-8,-14,12,-9}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1] {0.07}\n"
        "vs = const f32[1] {0.09}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=8, k_quant_type=PER_TENSOR, "
        "v_quant_type=PER_TENSOR}\n"
        "return ov\n",
        "i8[1,1,3,8] {-8,1,-12,17,-3,-7,0,-19,7,-9,-15,-16,-8,-14,12,-9,4,9,-18,-3,-11,-2,-14,0}");
}
END_TEST

START_TEST(int4_caches_have_their_values)
{
    ck_result_near(
        "q = const f32[1,2,16] {-2,0.3,-1.1,0,0,-2,-0.2,-0.3,1,-1.2,0.7,-1.1,-0.3,-0.8,1.4,0.6,"
        "2.4,0.6,0.8,0.8,-0.6,-0.1,1.4,-0.4,0.2,-0,0.6,-0.4,-0.2,0.2,0.1,-0.9}\n"
        "k = const f32[1,2,8] {0.9,-1.3,-1.2,-1.3,1,-0.4,-1,-1.1,0.4,-1.1,-1.3,0.6,-1.2,-0.3,-0,"
        "-0.4}\n"
        "v = const f32[1,2,8] {-0.1,1.3,-0.5,-1.3,-1.8,-0.2,-0.4,0.3,-0.5,-0.5,-0.7,-0.5,0.2,"
        "-0.4,0.1,1.9}\n"
        "pk = const u8[1,1,1,4] {128,141,179,27}\n"
        "pv = const u8[1,1,1,4] {27,179,141,128}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1,1,1,8] {0.54,0.36,0.42,0.3,0.3,0.36,0.42,0.6}\n"
        "vs = const f32[1,1,1,8] {0.54,0.42,0.42,0.48,0.54,0.42,0.54,0.42}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=4, k_quant_type=PER_CHANNEL, "
        "v_quant_type=PER_CHANNEL}\n"
        "return y\n",
        "f32[1,2,16] {1.3933092,-2.352283,-1.8649131,1.036994,2.0954912,0,-3.7910547,0.058771674,"
        "0.20987053,0.71589124,-0.63764346,-1.0668969,-1.0603454,0,-1.029698,0.3655891,"
        "-0.20311654,-0.20727819,-0.84377587,-0.55816,-0.18071473,-0.27189225,-0.5321625,"
        "1.4695982,1.0891476,-1.9388276,-1.66884,0.7300983,1.6570697,-0.05115164,-3.1690328,"
        "0.3251844}",
        1e-5);
    ck_result(
        "q = const f32[1,2,16] {-2,0.3,-1.1,0,0,-2,-0.2,-0.3,1,-1.2,0.7,-1.1,-0.3,-0.8,1.4,0.6,"
        "2.4,0.6,0.8,0.8,-0.6,-0.1,1.4,-0.4,0.2,-0,0.6,-0.4,-0.2,0.2,0.1,-0.9}\n"
        "k = const f32[1,2,8] {0.9,-1.3,-1.2,-1.3,1,-0.4,-1,-1.1,0.4,-1.1,-1.3,0.6,-1.2,-0.3,-0,"
        "-0.4}\n"
        "v = const f32[1,2,8] {-0.1,1.3,-0.5,-1.3,-1.8,-0.2,-0.4,0.3,-0.5,-0.5,-0.7,-0.5,0.2,"
        "-0.4,0.1,1.9}\n"
        "pk = const u8[1,1,1,4] {128,141,179,27}\n"
        "pv = const u8[1,1,1,4] {27,179,141,128}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1,1,1,8] {0.54,0.36,0.42,0.3,0.3,0.36,0.42,0.6}\n"
        "vs = const f32[1,1,1,8] {0.54,0.42,0.42,0.48,0.54,0.42,0.54,0.42}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=4, k_quant_type=PER_CHANNEL, "
        "v_quant_type=PER_CHANNEL}\n"
        "return ok\n",
        "u8[1,1,3,4] {128,141,179,27,74,69,123,102,89,165,116,120}");
    ck_result(
        "q = const f32[1,2,16] {-2,0.3,-1.1,0,0,-2,-0.2,-0.3,1,-1.2,0.7,-1.1,-0.3,-0.8,1.4,0.6,"
        "2.4,0.6,0.8,0.8,-0.6,-0.1,1.4,-0.4,0.2,-0,0.6,-0.4,-0.2,0.2,0.1,-0.9}\n"
        "k = const f32[1,2,8] {0.9,-1.3,-1.2,-1.3,1,-0.4,-1,-1.1,0.4,-1.1,-1.3,0.6,-1.2,-0.3,-0,"
        "-0.4}\n"
        "v = const f32[1,2,8] {-0.1,1.3,-0.5,-1.3,-1.8,-0.2,-0.4,0.3,-0.5,-0.5,-0.7,-0.5,0.2,"
        "-0.4,0.1,1.9}\n"
        "pk = const u8[1,1,1,4] {128,141,179,27}\n"
        "pv = const u8[1,1,1,4] {27,179,141,128}\n"
        "sl = const i32[1] {2}\n"
        "tot = const i32[] {3}\n"
        "ks = const f32[1,1,1,8] {0.54,0.36,0.42,0.3,0.3,0.36,0.42,0.6}\n"
        "vs = const f32[1,1,1,8] {0.54,0.42,0.42,0.48,0.54,0.42,0.54,0.42}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=4, k_quant_type=PER_CHANNEL, "
        "v_quant_type=PER_CHANNEL}\n"
        "return ov\n",
        "u8[1,1,3,4] {27,179,141,128,184,87,133,151,119,118,120,216}");
}
END_TEST

START_TEST(scales_per_channel_have_their_values)
{
    ck_result_near(
        "q = const f32[1,1,16] {-1.1,-1,-0,0.4,-0.5,0.1,0.7,0.3,0.9,0.5,0.5,1.8,0.6,0.1,0.7,"
        "-0.9}\n"
        "k = const f32[1,1,8] {-0.3,0.8,0.6,1.5,0,-1.5,1.9,1.1}\n"
        "v = const f32[1,1,8] {-1.1,1.4,0,-1.8,-0.4,-0.5,1.6,-0.8}\n"
        "pk = const i8[1,1,1,8] {-11,-19,19,1,-1,-1,-19,13}\n"
        "pv = const i8[1,1,1,8] {13,-19,-1,-1,1,19,-19,-11}\n"
        "sl = const i32[1] {1}\n"
        "tot = const i32[] {2}\n"
        "ks = const f32[1,1,1,8] {0.05,0.08,0.07,0.08,0.09,0.08,0.08,0.07}\n"
        "vs = const f32[1,1,1,8] {0.08,0.06,0.08,0.08,0.06,0.1,0.09,0.1}\n"
        "y, ok, ov = ms_group_query_attention q k v pk pv sl tot _ _ _ _ _ ks vs {num_heads=2, "
        "kv_num_heads=1, kv_cache_bit_width=8, k_quant_type=PER_CHANNEL, "
        "v_quant_type=PER_CHANNEL}\n"
        "return y\n",
        "f32[1,1,16] {-0.09017544,0.178538,-0.03814165,-0.9590253,-0.1911501,0.6442495,"
        "0.032353822,-0.94303125,-0.8703658,1.08876,-0.00924571,-1.56584,-0.36452574,-0.2226287,"
        "1.2351474,-0.83467144}",
        1e-5);
}
END_TEST

START_TEST(float8_caches_have_their_values)
{
    /* 500 is above the largest number, 448; 1.65 lies between 1.625 and 1.75 */
#define FLOAT8                                                                                     \
    "q = const f32[1,1,2] {1,2}\n"                                                                 \
    "k = const f32[1,1,2] {1,-1}\n"                                                                \
    "v = const f32[1,1,2] {1000,3.3}\n"                                                            \
    "p = const f8e4m3fn[1,1,0,2] {}\n"                                                             \
    "l = const i32[1] {0}\n"                                                                       \
    "t = const i32[1] {1}\n"                                                                       \
    "s = const f32[1] {2}\n"                                                                       \
    "y, ok, ov = ms_group_query_attention q k v p p l t _ _ _ _ _ s s {num_heads=1, "              \
    "kv_num_heads=1, " BOTH "}\n"
    ck_result(FLOAT8 "return y\n", "f32[1,1,2] {896,3.25}");
    ck_result(FLOAT8 "return ok\n", "f8e4m3fn[1,1,1,2] {0.5,-0.5}");
    ck_result(FLOAT8 "return ov\n", "f8e4m3fn[1,1,1,2] {448,1.625}");
}
END_TEST

START_TEST(wrong_caches_are_refused)
{
    static const struct {
        const char *key, *scale, *node, *part;
        poprt_status status;
    } bad[] = {
        { "i8[1,1,1,2]", "f32[1]", "k_quant_type=PER_TENSOR", "'NONE'", POPRT_E_ARG },
        { "i8[1,1,1,2]", "f32[1]", "k_quant_type=PER_ROW, v_quant_type=PER_TENSOR", "'PER_ROW'",
            POPRT_E_ARG },
        { "i8[1,1,1,2]", "f32[1]", "kv_cache_bit_width=8", "go with quantised", POPRT_E_ARG },
        { "i8[1,1,1,2]", "f32[1]", BOTH ", kv_cache_bit_width=4", "kv_cache_bit_width is 4",
            POPRT_E_ARG },
        { "u8[1,1,1,2]", "f32[1]", BOTH, "kv_cache_bit_width is 0", POPRT_E_ARG },
        { "u8[1,1,1,2]", "f32[1]", BOTH ", kv_cache_bit_width=4", "a dim of the cache",
            POPRT_E_SHAPE },
        { "f32[1,1,1,2]", "f32[1]", BOTH, "not float", POPRT_E_TYPE },
        { "i8[1,1,1,2]", "f32[3]", BOTH, "is 3; 1 or 1", POPRT_E_SHAPE },
        { "i8[1,1,1,2]", "f32[1,1,1,1,1]", BOTH, "rank 5", POPRT_E_SHAPE },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char graph[1024];
        snprintf(graph, sizeof(graph),
            "q = const f32[1,1,4] ones\n"
            "k = const f32[1,1,2] ones\n"
            "p = const %s zeros\n"
            "l = const i32[1] {1}\n"
            "t = const i32[1] {2}\n"
            "s = const %s ones\n"
            "y = ms_group_query_attention q k k p p l t _ _ _ _ _ s s {num_heads=2, "
            "kv_num_heads=1, %s}\n"
            "return y\n",
            bad[i].key, bad[i].scale, bad[i].node);
        ck_failure(graph, bad[i].status, bad[i].part);
    }
    ck_failure("q = const f32[1,1,4] ones\n"
               "k = const f32[1,1,2] ones\n"
               "l = const i32[1] {0}\n"
               "t = const i32[1] {1}\n"
               "y = ms_group_query_attention q k k _ _ l t {num_heads=2, kv_num_heads=1, " BOTH
               "}\n"
               "return y\n",
        POPRT_E_ARG, "needs its past");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/quantized_cache", int8_caches_have_their_values,
    int4_caches_have_their_values, scales_per_channel_have_their_values,
    float8_caches_have_their_values, wrong_caches_are_refused)
