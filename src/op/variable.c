/* SPDX-License-Identifier: MIT */
/* variable.c — words of variable.h. */
#include "op/variable.h"

const char *prt_variable_role_name(unsigned role)
{
    static const char *const names[] = {
#define PRT_VARIABLE_ROLE(id) #id,
        PRT_VARIABLE_ROLES(PRT_VARIABLE_ROLE)
#undef PRT_VARIABLE_ROLE
    };
    return role < PRT_VARIABLE_ROLE_COUNT ? names[role] : "?";
}
