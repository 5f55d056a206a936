/* SPDX-License-Identifier: MIT */
/* wire.c — the tables of messages, from tensorflow.def. */
#include "tensorflow/wire.h"

#define WIRE_DEF "tensorflow/tensorflow.def"
#define WIRE_ID(message) PRT_TF_##message
#define WIRE_MESSAGES PRT_TF_MESSAGES
#include "converter/wire_schema.inl"

prt_wire prt_tf_open(prt_bytes bytes, prt_tf_message message, uint32_t depth)
{
    return prt_wire_open(bytes, &schema, (uint32_t)message, depth);
}

poprt_status prt_tf_entry(prt_bytes bytes, uint32_t depth, prt_str *key, prt_bytes *value)
{
    *key = PRT_STR("");
    *value = (prt_bytes){ 0 };
    prt_wire w = prt_tf_open(bytes, PRT_TF_Entry, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_Entry_key)
            *key = prt_wire_text(&w, &f);
        else if (f.number == PRT_TF_Entry_value)
            *value = f.bytes;
    }
    return w.status;
}
