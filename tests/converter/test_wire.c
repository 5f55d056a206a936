/* SPDX-License-Identifier: MIT */
/* test_wire.c — protobuf fields, valid and broken. Covers: wire.c, onnx_wire.c. */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

static prt_wire open_msg(const msg *m, prt_onnx_message message)
{
    return prt_onnx_open((prt_bytes){ m->data, m->size }, message, 1);
}

/* Returns the status after all fields are read. */
static poprt_status drain(const msg *m, prt_onnx_message message)
{
    prt_wire w = open_msg(m, message);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
    }
    return w.status;
}

START_TEST(fields_are_views)
{
    msg *m = msg_f32(msg_text(msg_int(msg_new(), 3, -7), 1, "name"), 2, 1.5f);
    prt_wire w = open_msg(m, PRT_ONNX_Attribute);
    prt_field f;
    ck_assert(prt_wire_next(&w, &f));
    ck_assert_uint_eq(f.number, PRT_ONNX_Attribute_i);
    ck_assert_int_eq((int64_t)f.word, -7);
    ck_assert_uint_eq(f.whole.size, 11);
    ck_assert(prt_wire_next(&w, &f));
    ck_assert(prt_str_is(prt_wire_text(&w, &f), "name"));
    ck_assert_ptr_eq(f.bytes.data, m->data + 13);
    ck_assert_uint_eq(f.whole.size, 6);
    ck_assert(prt_wire_next(&w, &f));
    ck_assert_uint_eq(f.word, 0x3fc00000);
    ck_assert(!prt_wire_next(&w, &f));
    ck_assert_int_eq(w.status, POPRT_OK);
}
END_TEST

START_TEST(numbers_come_packed_or_not)
{
    msg *packed = msg_varint(msg_varint(msg_varint(msg_new(), 300), 0), (uint64_t)-1);
    msg *m = msg_int(msg_msg(msg_int(msg_new(), 8, 5), 8, packed), 8, 6);
    const int64_t want[] = { 5, 300, 0, -1, 6 };
    size_t n = 0;
    uint64_t word;
    prt_wire w = open_msg(m, PRT_ONNX_Attribute);
    prt_field f;
    while (prt_wire_next(&w, &f))
        while (prt_wire_item(&w, &f, &word))
            ck_assert_int_eq((int64_t)word, want[n++]);
    ck_assert_int_eq(w.status, POPRT_OK);
    ck_assert_uint_eq(n, 5);
}
END_TEST

START_TEST(cut_packed_numbers_are_refused)
{
    msg *m = msg_bytes(msg_new(), PRT_ONNX_Attribute_floats, "\0\0\0\0\0", 5);
    prt_wire w = open_msg(m, PRT_ONNX_Attribute);
    prt_field f;
    uint64_t word;
    ck_assert(prt_wire_next(&w, &f));
    ck_assert(prt_wire_item(&w, &f, &word));
    ck_assert(!prt_wire_item(&w, &f, &word));
    ck_assert_int_eq(w.status, POPRT_E_PARSE);
}
END_TEST

START_TEST(unknown_fields_are_kept_whole)
{
    msg *m = msg_int(msg_text(msg_new(), 500, "later"), 31, 1);
    prt_wire w = open_msg(m, PRT_ONNX_Model);
    prt_field f;
    ck_assert(prt_wire_next(&w, &f));
    ck_assert(!f.known);
    ck_assert_ptr_eq(f.whole.data, m->data);
    ck_assert_uint_eq(f.whole.size, 8);
    ck_assert(prt_wire_next(&w, &f));
    ck_assert(!f.known && !prt_wire_next(&w, &f));
    ck_assert_int_eq(w.status, POPRT_OK);
}
END_TEST

START_TEST(broken_fields_are_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        { "\x0a", 1 }, /* no length */
        { "\x0a\x05"
          "abc",
            5 },                                                    /* too long */
        { "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10 },         /* length of 2^63-1 */
        { "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 }, /* no varint */
        { "\x18\x80", 2 },                                          /* open varint */
        { "\x15\x00\x00", 3 },                                      /* short fixed32 */
        { "\x00\x00", 2 },                                          /* field 0 */
        { "\x0b\x0c", 2 },                                          /* a group */
        { "\x0e", 1 },                                              /* wire type 6 */
        { "\xff\xff\xff\xff\xff\xff", 6 },                          /* endless tag */
        { "\x08\x01", 2 },                                          /* name as a number */
        { "\x1a\x00", 2 },                                          /* i as bytes */
        { "\x31\x00\x00\x00\x00\x00\x00\x00\x00", 9 },              /* g as fixed64 */
    };
    for (size_t i = 0; i < PRT_COUNT_OF(bad); i++) {
        const msg *m = msg_raw(msg_new(), bad[i].bytes, bad[i].size);
        ck_assert_int_eq(drain(m, PRT_ONNX_Attribute), POPRT_E_PARSE);
    }
}
END_TEST

START_TEST(depth_is_bounded)
{
    prt_field f;
    prt_wire w = prt_onnx_open((prt_bytes){ NULL, 0 }, PRT_ONNX_Model, PRT_WIRE_DEPTH);
    ck_assert(!prt_wire_next(&w, &f));
    ck_assert_int_eq(w.status, POPRT_OK);
    w = prt_onnx_open((prt_bytes){ NULL, 0 }, PRT_ONNX_Model, PRT_WIRE_DEPTH + 1);
    ck_assert(!prt_wire_next(&w, &f));
    ck_assert_int_eq(w.status, POPRT_E_LIMIT);
}
END_TEST

PRT_TEST_MAIN("converter/wire", fields_are_views, numbers_come_packed_or_not,
    cut_packed_numbers_are_refused, unknown_fields_are_kept_whole, broken_fields_are_refused,
    depth_is_bounded)
