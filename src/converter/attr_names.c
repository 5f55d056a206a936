/* SPDX-License-Identifier: MIT */
/*
 * attr_names.c — compares the names of a node's attributes with the schema in force at the model's
 * opset. Only domains whose schemas are known at each opset are checked. An attribute that an
 * operator does not have there is a mistake that changes results (such as an opset number edited by
 * hand), and other readers refuse it too. Names that begin with two underscores are allowed, as in
 * ONNX's own checker.
 */
#include <inttypes.h>
#include <stdio.h>

#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/upgrade.h"

enum { TEXT = 600 };

/* Until opset 5 every operator of ai.onnx could carry consumed_inputs, a hint for optimisers. */
static bool is_free(const prt_upgrade *u, prt_str name)
{
    return (name.size >= 2 && memcmp(name.data, "__", 2) == 0) ||
        (u->version < 6 && prt_domain_is_onnx(u->op->domain) &&
            prt_str_is(name, "consumed_inputs"));
}

/* Lists the opsets that have the attribute: "opsets 1 to 17 have it"; empty if no opset has it. */
static void list_opsets(prt_str name, const char *attr, int64_t newest, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (int64_t first = 1; first <= newest; first++) {
        int64_t last = first;
        if (!prt_history_has_attr(name, first, attr))
            continue;
        while (last < newest && prt_history_has_attr(name, last + 1, attr))
            last++;
        const char *word = used == 0 ? "opsets" : " and";
        const int n = first == last
            ? snprintf(to + used, size - used, "%s %" PRId64, word, first)
            : snprintf(to + used, size - used, "%s %" PRId64 " to %" PRId64, word, first, last);
        used = n > 0 && (size_t)n < size - used ? used + (size_t)n : size - 1;
        first = last;
    }
    if (used != 0)
        (void)snprintf(to + used, size - used, " have it");
}

static poprt_status refuse(const prt_upgrade *u, prt_str name, int64_t newest, const char *attr)
{
    char opsets[TEXT], accepted[TEXT];
    list_opsets(name, attr, newest, opsets, sizeof(opsets));
    prt_history_list_attrs(name, u->version, accepted, sizeof(accepted));
    return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
        "%.100s-%" PRId64 " has no attribute '%.100s': %s; accepted: %s", name.data,
        prt_history_version(name, u->version), attr, opsets[0] != '\0' ? opsets : "no opset has it",
        accepted);
}

/* Copies the name of the first attribute that is neither in the schema nor free, truncated to
 * fit. */
static bool find_unknown(const prt_upgrade *u, char *to, size_t size)
{
    for (uint32_t i = 0; i < u->n_attrs; i++) {
        const prt_str given = u->attrs[i].name;
        if (is_free(u, given))
            continue;
        (void)snprintf(to, size, "%.*s", PRT_STR_ARG(given));
        if (strlen(to) != given.size || !prt_history_has_attr(u->op->name, u->version, to))
            return true; /* also if the name was truncated or contains a null byte */
    }
    return false;
}

poprt_status prt_upgrade_check_names(const prt_upgrade *u)
{
    char attr[TEXT / 4];
    const prt_str name = u->op->name;
    const char *domain = prt_history_domain(u->op->domain);
    if (domain == NULL || !find_unknown(u, attr, sizeof(attr)))
        return POPRT_OK;
    /* No error if the operator belongs to another domain, if a newer schema may have more
     * attributes, or if the operator does not exist at this opset and so has no schema. */
    const int64_t newest = prt_history_newest_of(domain);
    if (prt_history_is_other_domain(name, domain) || u->version > newest ||
        prt_history_version(name, u->version) == 0)
        return POPRT_OK;
    return refuse(u, name, newest, attr);
}

poprt_status prt_upgrade_check_taken(const prt_upgrade *u, int64_t newest, const char *accepted)
{
    for (uint32_t i = 0; i < u->n_attrs && u->version <= newest; i++)
        if (!u->attrs[i].taken && !is_free(u, u->attrs[i].name))
            return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
                "%.100s-%" PRId64 " has no attribute '%.*s': no opset has it; accepted: %s",
                u->op->name.data, u->version, PRT_SHOW(u->attrs[i].name), accepted);
    return POPRT_OK;
}
