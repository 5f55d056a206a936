/* SPDX-License-Identifier: MIT */
/* conversions.h — declares the functions of all rows of upgrade.def. */
#ifndef PRT_CONVERTER_CONVERSIONS_H
#define PRT_CONVERTER_CONVERSIONS_H

#include "converter/upgrade.h"

#define VARIANT(domain, name, from, to, up, down)                                                  \
    poprt_status up(prt_upgrade *u);                                                               \
    poprt_status down(prt_downgrade *d);
#define UPGRADE(domain, name, from, to, up) poprt_status up(prt_upgrade *u);
#define DOWNGRADE(domain, name, from, to, down) poprt_status down(prt_downgrade *d);
#include "converter/upgrade.def"

#endif
