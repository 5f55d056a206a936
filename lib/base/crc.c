/* SPDX-License-Identifier: MIT */
/*
 * crc.c — CRC-32C by slicing-by-8: eight tables, eight bytes an iteration. A call with an input of
 * TABLE_FROM bytes or more builds the tables on its stack, so that the library has no writable
 * globals. Shorter inputs use a constant table, half a byte at a time.
 */
#include "base/crc.h"

#include <string.h>

enum { TABLE_FROM = 4096 }; /* bytes */

/* The table of the polynomial 0x82f63b78, whose bits are reversed. */
static uint32_t step(uint32_t crc, unsigned char byte)
{
    static const uint32_t half[16] = { 0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc,
        0x5125dad3, 0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75 };
    crc ^= byte;
    crc = crc >> 4 ^ half[crc & 15];
    return crc >> 4 ^ half[crc & 15];
}

static void make_tables(uint32_t table[8][256])
{
    for (uint32_t i = 0; i < 256; i++)
        table[0][i] = step(0, (unsigned char)i);
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

uint32_t prt_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    crc = ~crc;
    if (size >= TABLE_FROM) {
        uint32_t table[8][256];
        make_tables(table);
        for (; size >= 8; size -= 8, p += 8) {
            uint32_t a, b;
            memcpy(&a, p, 4);
            memcpy(&b, p + 4, 4);
            a ^= crc;
            crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^
                table[4][a >> 24] ^ table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
                table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
        }
    }
    for (; size > 0; size--)
        crc = step(crc, *p++);
    return ~crc;
}
