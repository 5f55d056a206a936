/* SPDX-License-Identifier: MIT */
/* forms.h — declares the functions of all rows of upgrade.def for the files that define them. */
#ifndef PRT_CONVERTER_FORMS_H
#define PRT_CONVERTER_FORMS_H

#include "converter/upgrade.h"

#define FORM(domain, name, from, to, up, down)                                                     \
    poprt_status up(prt_upgrade *u);                                                               \
    poprt_status down(prt_downgrade *d);
#define UP(domain, name, from, to, up) poprt_status up(prt_upgrade *u);
#define DOWN(domain, name, from, to, down) poprt_status down(prt_downgrade *d);
#include "converter/upgrade.def"

#endif
