/* SPDX-License-Identifier: MIT */
/*
 * test_print_parse.c — text form: accepted text, round trips, positions of errors.
 * Covers: parse.c, scan_data.c, scan_type.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* Asserts that printing gives back `text` itself. */
static void assert_exact(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_str_eq(graph_text(g), text);
    module_free(g);
}

static void assert_prints(const char *text, const char *printed)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_str_eq(graph_text(g), printed);
    module_free(g);
    assert_exact(printed);
}

START_TEST(values_ops_and_attributes_round_trip)
{
    assert_exact("x = input f32[2,8]\n"
                 "w = const f32[2] {1, 2}\n"
                 "y = transpose x {perm=[1,0]}\n"
                 "z = add y w\n"
                 "a, b = split z _ {num_outputs=2, axis=1}\n"
                 "return a as output, b, x\n");
}
END_TEST

START_TEST(spacing_comments_and_semicolons_do_not_matter)
{
    assert_prints("x=input f32[ 2 , 3 ]; # an input\n"
                  "\n"
                  "y =  transpose x {\n  perm = [1, 0]\n}   ; return y",
        "x = input f32[2,3]\ny = transpose x {perm=[1,0]}\nreturn y\n");
}
END_TEST

START_TEST(regions_round_trip)
{
    assert_exact("c = input bool[]\n"
                 "x = input f32[2]\n"
                 "r = if c {\n"
                 "  then_branch {\n"
                 "    t = add x x\n"
                 "    return t\n"
                 "  }\n"
                 "  else_branch {\n"
                 "    k = const f32[2] {1, 0.5}\n"
                 "    %0 = sub x k\n"
                 "    return %0\n"
                 "  }\n"
                 "}\n"
                 "return r\n");
}
END_TEST

START_TEST(values_without_names_are_numbered_in_order)
{
    assert_prints("x = input f32[2]\n"
                  "%17 = add x x\n"
                  "%4 = mul %17 %17\n"
                  "_ = sub %4 x\n"
                  "return %4 as y\n",
        "x = input f32[2]\n"
        "%0 = add x x\n"
        "%1 = mul %0 %0\n"
        "_ = sub %1 x\n"
        "return %1 as y\n");
}
END_TEST

START_TEST(odd_names_are_quoted)
{
    assert_exact("\"a b\" = input f32[2]\n"
                 "\"return\" = add \"a b\" \"a b\" @\"node \\\"1\\\"\"\n"
                 "123/x:0 = add \"return\" \"a b\" @n\n"
                 "\"_\" = identity 123/x:0\n"
                 "return 123/x:0 as \"\\x01\\n\", \"_\"\n");
}
END_TEST

START_TEST(types_round_trip)
{
    assert_exact("a = input f32[2,seq,(seq+1),?]\n"
                 "b = input i64[*]\n"
                 "c = input ?\n"
                 "d = input ?[2,?]\n"
                 "e = input seq(f16[])\n"
                 "f = input optional(seq(string[n]))\n"
                 "g = input map(i64,f32[2])\n"
                 "h = input seq(?)\n"
                 "i = input bf16[(2*n),max(n, m),(n/2)]\n"
                 "return\n");
}
END_TEST

START_TEST(elements_round_trip)
{
    assert_exact("a = const f32[7] {0.1, -0, 1e-45, 3.4028235e+38, inf, -inf, nan}\n"
                 "b = const f64[3] {0.1, 1e+300, 123456789}\n"
                 "c = const f16[3] {0.1, 65504, 6e-08}\n"
                 "d = const bf16[2] {0.1, 3e+38}\n"
                 "e = const i8[3] {-128, 0, 127}\n"
                 "f = const u64[2] {0, 18446744073709551615}\n"
                 "g = const i64[2] {-9223372036854775808, 9223372036854775807}\n"
                 "h = const bool[2] {true, false}\n"
                 "i = const i4[3] {-8, 7, -1}\n"
                 "j = const string[2] {\"a\", \"b \\\"\\n\"}\n"
                 "k = const c64[2] {(1, -2.5), (0, inf)}\n"
                 "l = const f8e4m3fn[3] {448, 0.5, nan}\n"
                 "m = const f8e5m2[2] {inf, 57344}\n"
                 "n = const f32[1] {0x7fc00001}\n"
                 "o = const u4[2] {15, 1}\n"
                 "o6 = const f6e2m3[5] {1, -2.5, 0.125, 7.5, -0.375}\n"
                 "p6 = const f6e3m2[2] {28, -0.0625}\n"
                 "p = const f32[0,3] {}\n"
                 "q = const f32[] {2}\n"
                 "return\n");
}
END_TEST

START_TEST(every_half_value_round_trips)
{
    static char text[40 * 64], printed[40 * 64];
    for (uint32_t first = 0; first < 0x10000; first += 64) {
        prt_module *m = NULL;
        prt_blob *blob = NULL;
        const int64_t dim = 64;
        ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
        ck_assert_int_eq(prt_blob_create(NULL, 128, &blob), POPRT_OK);
        for (uint32_t i = 0; i < 64; i++) {
            const uint16_t bits = (uint16_t)(first + i);
            memcpy(prt_blob_bytes(blob) + i * 2, &bits, 2);
        }
        const prt_type *type = prt_type_tensor(m->types, PRT_DTYPE_f16, 1, &dim);
        ck_assert_ptr_nonnull(prt_graph_add_constant(m->main, PRT_STR("c"), type, blob));
        (void)snprintf(text, sizeof(text), "%s", graph_text(m->main));
        prt_module_release(m);
        prt_graph *g = graph_from_text(text);
        const unsigned char *back = g->constants.data[0]->constant->data;
        for (uint32_t i = 0; i < 64; i++) {
            uint16_t bits;
            memcpy(&bits, back + i * 2, 2);
            ck_assert_uint_eq(bits, first + i);
        }
        (void)snprintf(printed, sizeof(printed), "%s", graph_text(g));
        ck_assert_str_eq(printed, text);
        module_free(g);
    }
}
END_TEST

START_TEST(large_constants_are_filled_or_left_out)
{
    assert_prints(
        "a = const f32[100] zeros; b = const i64[70] fill -3; c = const bool[2] ones; return",
        "a = const f32[100] fill 0\n"
        "b = const i64[70] fill -3\n"
        "c = const bool[2] {true, true}\n"
        "return\n");
    char text[1024] = "a = const i32[65] {0";
    for (int i = 1; i < 65; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %d", i);
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "}\nreturn\n");
    prt_graph *g = graph_from_text(text);
    ck_assert_ptr_nonnull(strstr(graph_text(g), "a = const i32[65] {... "));
    ck_assert_ptr_nonnull(
        strstr(graph_error(graph_text(g)), "line 1, column 20: contents were left out"));
    module_free(g);
}
END_TEST

START_TEST(inputs_may_have_defaults)
{
    assert_exact("x = input f32[2] {1, 2}\nreturn x as y\n");
}
END_TEST

START_TEST(foreign_operators_keep_their_types)
{
    assert_exact("x = input f32[2]\n"
                 "y, _ = \"com.example.Twist\" x _ @n : f32[3], ?\n"
                 "z = add y y\n"
                 "return z\n");
}
END_TEST

START_TEST(types_of_known_operators_are_inferred_whatever_is_declared)
{
    prt_graph *g = graph_from_text("x = input f32[?,3]\ny = identity x : f32[n,3]\nreturn y\n");
    char text[64];
    prt_type_print(g->module->dims, g->last->out[0].type, text, sizeof(text));
    ck_assert_str_eq(text, "f32[?,3]");
    module_free(g);
}
END_TEST

static void assert_error(const char *text, const char *message)
{
    const char *got = graph_error(text);
    ck_assert_ptr_nonnull(got);
    ck_assert_msg(strstr(got, message) != NULL, "'%s' is not in '%s'", message, got);
}

START_TEST(errors_name_line_and_column)
{
    assert_error("x = input f32[2]\ny = add x q\nreturn y", "line 2, column 11: no value 'q'");
    assert_error("x = input f33[2]\n", "line 1, column 14: no type 'f33'");
    assert_error("x = input f32[2", "expected ','");
    assert_error("x = input f32[-2]", "negative");
    assert_error("x = input f32[1,1,1,1,1,1,1,1,1]", "more than 8 dimensions");
    assert_error("x = input f32[2]\nx = add x x\nreturn x", "two values have the name 'x'");
    assert_error("x = input f32[2]\n%1 = add x x; %1 = add x x\nreturn x", "number 1");
    assert_error("x = frobnicate\nreturn x", "line 1, column 5: no operator 'frobnicate'");
    assert_error("x = input f32[2]\ny = transpose x {prem=[0]}\nreturn y", "no attribute 'prem'");
    assert_error("x = input f32[2]\ny = transpose x {perm=[a]}\nreturn y",
        "'a' is not a value of type i64");
    assert_error("x = const i8[1] {128}\nreturn x", "not a value of type i8");
    assert_error("x = const u8[1] {-1}\nreturn x", "not a value of type u8");
    assert_error("x = const f32[2] {1}\nreturn x", "1 elements where 2 are needed");
    assert_error("x = const f32[1] {1, 2}\nreturn x", "more than 1 elements");
    assert_error("x = const f32[n] {1}\nreturn x", "numbers for dimensions");
    assert_error("x = const f32[4611686018427387904] zeros\nreturn x", "");
    assert_error("x = const f32[1000000000] zeros\nreturn x", "too many");
    assert_error("x = input f32[2]", "no return");
    assert_error("x = input f32[2]\ny = neg x\nreturn y, x as y", "output has the name 'y'");
    assert_error("x = input f32[2]\ny = neg x\nreturn y as x", "an input or");
    assert_error("x = input f32[2]\nreturn x\ny = add x x",
        "line 3, column 1: statement after return");
    assert_error("x = input f32[2] }\nreturn x", "expected");
    assert_error("\"x = input f32[2]\nreturn x", "no end");
    assert_error("\"\\q\" = input f32[2]\nreturn x", "escape");
    assert_error("x = input seq(f32[2]\nreturn x", "expected ')'");
    assert_error("c = input bool[]\nr = if c { then_branch { return c", "no closing brace");
    assert_error("c = input bool[]\nr = if c { a_branch { return c } }\nreturn r",
        "no region 'a_branch'");
}
END_TEST

START_TEST(inference_errors_name_the_op)
{
    assert_error("x = input f32[2]\ny = input f32[3]\n  z = add x y\nreturn z",
        "line 3, column 7: ");
    assert_error("x = input f32[2]\nz = add x\nreturn z", "missing");
}
END_TEST

START_TEST(values_of_a_region_are_not_seen_outside)
{
    assert_error("c = input bool[]\n"
                 "r = if c {\n  then_branch { t = not c; return t }\n  else_branch { return t "
                 "}\n}\nreturn r",
        "line 4, column 24: no value 't'");
}
END_TEST

START_TEST(nesting_is_bounded)
{
    static char text[1 << 16];
    size_t at = 0;
    at += (size_t)snprintf(text, sizeof(text), "c = input bool[]\n");
    for (int i = 0; i < 100; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "r%d = if c { then_branch {", i);
    assert_error(text, "more than 64 levels deep");
    at = (size_t)snprintf(text, sizeof(text), "x = input ");
    for (int i = 0; i < 40; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "seq(");
    assert_error(text, "more than 16 levels deep");
    at = (size_t)snprintf(text, sizeof(text), "x = input f32[");
    for (int i = 0; i < 1000; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "(");
    assert_error(text, "more than 64 levels deep");
}
END_TEST

START_TEST(every_prefix_and_every_damaged_byte_is_survived)
{
    const char *text =
        "x = input f32[2,(n+1)]\n"
        "w = const f32[2,1] {1, -2e3}\n"
        "s = const string[1] {\"a\\x41\"}\n"
        "%1 = add x w @\"q\" : f32[2,?]\n"
        "c = const bool[] {true}\n"
        "r = if c { then_branch { t = add %1 x; return t } else_branch { return x } }\n"
        "z = cast r {to=1}\n"
        "return z as \"o\"\n";
    const size_t n = strlen(text);
    static const char bytes[] = "\0{}[]()\"%_=,:;@#\n 9x-\xff";
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= sizeof(bytes); k++) {
            prt_module *m = NULL;
            prt_arena *arena = NULL;
            char *copy = malloc(n + 1);
            ck_assert_ptr_nonnull(copy);
            memcpy(copy, text, n + 1);
            if (k < sizeof(bytes))
                copy[i] = bytes[k];
            ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
            ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
            const prt_str damaged = { copy, (uint32_t)(k < sizeof(bytes) ? n : i) };
            prt_str out;
            if (prt_ir_parse(m, damaged) == POPRT_OK) {
                ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
                ck_assert_int_eq(prt_ir_print(m->main, arena, &out), POPRT_OK);
            }
            prt_module_release(m);
            prt_arena_release(arena);
            free(copy);
        }
}
END_TEST

PRT_TEST_MAIN("ir/print_parse", values_ops_and_attributes_round_trip,
    spacing_comments_and_semicolons_do_not_matter, regions_round_trip,
    values_without_names_are_numbered_in_order, odd_names_are_quoted, types_round_trip,
    elements_round_trip, every_half_value_round_trips, large_constants_are_filled_or_left_out,
    inputs_may_have_defaults, foreign_operators_keep_their_types,
    types_of_known_operators_are_inferred_whatever_is_declared, errors_name_line_and_column,
    inference_errors_name_the_op, values_of_a_region_are_not_seen_outside, nesting_is_bounded,
    every_prefix_and_every_damaged_byte_is_survived)
