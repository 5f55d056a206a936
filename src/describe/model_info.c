/* SPDX-License-Identifier: MIT */
/* model_info.c — converts the metadata of a model's file to the public struct poprt_model_info. */
#include "describe/io_table.h"

static poprt_status copy_text(prt_arena *arena, prt_str text, const char **out)
{
    *out = text.size != 0 ? prt_arena_text(arena, text.data, text.size) : "";
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status copy_properties(prt_arena *arena, const prt_facts *facts, poprt_model_info *out)
{
    poprt_property *properties = PRT_NEW_N(arena, poprt_property, facts->n_properties);
    if (properties == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < facts->n_properties; i++) {
        PRT_TRY(copy_text(arena, facts->properties[i].key, &properties[i].key));
        PRT_TRY(copy_text(arena, facts->properties[i].value, &properties[i].value));
    }
    out->properties = properties;
    out->property_count = facts->n_properties;
    return POPRT_OK;
}

poprt_status prt_info_fill(prt_arena *arena, const prt_facts *facts, poprt_model_info *out)
{
    *out = (poprt_model_info){ .struct_size = sizeof(*out),
        .model_version = facts->model_version,
        .ir_version = facts->ir_version,
        .opset = facts->opset };
    PRT_TRY(copy_text(arena, facts->producer_name, &out->producer_name));
    PRT_TRY(copy_text(arena, facts->producer_version, &out->producer_version));
    PRT_TRY(copy_text(arena, facts->domain, &out->domain));
    PRT_TRY(copy_text(arena, facts->doc, &out->doc_string));
    PRT_TRY(copy_text(arena, facts->graph_name, &out->graph_name));
    PRT_TRY(copy_text(arena, facts->graph_doc, &out->graph_doc_string));
    return copy_properties(arena, facts, out);
}
