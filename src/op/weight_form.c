/* SPDX-License-Identifier: MIT */
/* weight_form.c — undoes the steps of weight_form.h. */
#include "op/weight_form.h"

#include "base/size.h"
#include "kern/gemm/low_precision.h"
#include "num/dtype.h"

static const char *const names[PRT_WEIGHT_STEP_KINDS] = { "transpose", "part", "panels", "convert",
    "integers" };

const char *prt_weight_step_name(uint32_t kind)
{
    return kind < PRT_WEIGHT_STEP_KINDS ? names[kind] : "?";
}

uint32_t prt_weight_step_of(prt_str name)
{
    uint32_t kind = 0;
    while (kind < PRT_WEIGHT_STEP_KINDS && !prt_str_is(name, names[kind]))
        kind++;
    return kind;
}

/* ---- checks: the element type and the number of elements before and behind a step */

typedef struct elements {
    int32_t dtype;
    size_t count;
} elements;

static bool product(const int64_t *dims, uint32_t rank, size_t *out)
{
    *out = 1;
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] < 0 || dims[i] > INT32_MAX || !prt_size_mul(*out, (size_t)dims[i], out))
            return false;
    return true;
}

static bool check_transpose(const prt_weight_step *s, elements *e)
{
    size_t count;
    bool seen[PRT_MAX_RANK] = { false };
    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->more[i] < 0 || s->more[i] >= s->rank || seen[s->more[i]])
            return false;
        seen[s->more[i]] = true;
    }
    return prt_dtype_bits(e->dtype) >= 8 && product(s->dims, s->rank, &count) && count == e->count;
}

static bool check_part(const prt_weight_step *s, elements *e)
{
    int64_t dims[PRT_MAX_RANK];
    size_t part, whole;
    if (prt_dtype_bits(e->dtype) < 8 || !product(s->dims, s->rank, &whole) || s->more[0] < 0 ||
        s->more[0] >= s->rank || s->more[1] < 0 || s->more[2] < 0 ||
        s->more[1] > s->dims[s->more[0]] || s->more[2] > s->dims[s->more[0]] - s->more[1])
        return false;
    memcpy(dims, s->dims, sizeof(dims));
    dims[s->more[0]] = s->more[2];
    if (!product(dims, s->rank, &part) || part != e->count)
        return false;
    e->count = whole;
    return true;
}

static bool check_panels(const prt_weight_step *s, elements *e)
{
    size_t rows, columns;
    if (s->rank != 4 || e->dtype != PRT_DTYPE_f32 || s->dims[2] < 0 || s->dims[3] < 0 ||
        s->dims[2] > INT32_MAX || s->dims[3] > INT32_MAX || !product(s->dims, 2, &rows) ||
        !prt_size_mul(rows, (size_t)(s->dims[2] + s->dims[3]), &columns) || columns != e->count)
        return false;
    return prt_size_mul(rows,
        prt_gemm_width((size_t)s->dims[2]) + prt_gemm_width((size_t)s->dims[3]), &e->count);
}

static bool check_convert(const prt_weight_step *s, elements *e)
{
    if (s->rank != 2 || s->dims[0] != e->dtype || !prt_dtype_is_float(e->dtype) || s->dims[1] < 0 ||
        s->dims[1] > INT32_MAX)
        return false;
    const int32_t to = (int32_t)s->dims[1];
    const uint32_t bits = prt_dtype_bits(to);
    e->dtype = to;
    return prt_dtype_is_float(to) && (bits == 32 || bits == 64) &&
        bits > prt_dtype_bits((int32_t)s->dims[0]);
}

/* Every integer of the weight must be one of a row and a column. */
static bool check_integers(const prt_weight_step *s, elements *e)
{
    size_t count, size, bits;
    if (s->rank != 4 || (s->more[0] != 2 && s->more[0] != 4 && s->more[0] != 8) ||
        !product(s->dims, 2, &count) || !prt_size_mul(count, (size_t)s->more[0], &bits) ||
        !prt_dtype_size(e->dtype, e->count, &size) || bits % 8 != 0 || size != bits / 8 ||
        !((s->dims[2] == 1 && s->dims[3] == s->dims[0]) ||
            (s->dims[2] == s->dims[1] && s->dims[3] == 1)))
        return false;
    const int kind = s->more[0] == 8 ? PRT_LOW_PRECISION_i8 : PRT_LOW_PRECISION_i4;
    e->dtype = s->more[0] == 8 ? PRT_DTYPE_i8 : PRT_DTYPE_i4;
    return prt_size_mul(prt_low_precision_rows(kind, (size_t)s->dims[0]),
        prt_gemm_width((size_t)s->dims[1]), &e->count);
}

static bool advance(const prt_weight_step *s, elements *e)
{
    if (s->rank > PRT_MAX_RANK)
        return false;
    switch (s->kind) {
    case PRT_WEIGHT_transpose:
        return check_transpose(s, e);
    case PRT_WEIGHT_part:
        return check_part(s, e);
    case PRT_WEIGHT_panels:
        return check_panels(s, e);
    case PRT_WEIGHT_convert:
        return check_convert(s, e);
    case PRT_WEIGHT_integers:
        return check_integers(s, e);
    default:
        return false;
    }
}

static bool begin(const prt_type *type, elements *e)
{
    uint64_t count;
    size_t size;
    if (!prt_type_is_tensor(type) || !prt_type_is_static(type) || type->rank > PRT_MAX_RANK ||
        type->dtype == PRT_DTYPE_string || !prt_type_count(type, &count) ||
        !prt_type_size(type, &size))
        return false;
    *e = (elements){ type->dtype, (size_t)count };
    return true;
}

bool prt_weight_form_check(const prt_weight_form *form, const prt_type *constant)
{
    elements e, end;
    if (form->n_steps > PRT_WEIGHT_STEPS || !begin(form->type, &e) || !begin(constant, &end))
        return false;
    for (uint32_t i = 0; i < form->n_steps; i++)
        if (!advance(&form->steps[i], &e))
            return false;
    return e.dtype == end.dtype && e.count == end.count;
}

/* ---- undoing a step; `size` is the bytes of an element */

/* Copies elements whose distances along the axes of the result are `strides` in the source. */
static void gather(uint32_t rank, const int64_t *dims, const size_t *strides, size_t size,
    const unsigned char *from, unsigned char *to)
{
    int64_t at[PRT_MAX_RANK] = { 0 };
    size_t count = 1, offset = 0;
    for (uint32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    for (size_t n = 0; n < count; n++, to += size) {
        memcpy(to, from + offset * size, size);
        for (uint32_t i = rank; i-- > 0;) {
            offset += strides[i];
            if (++at[i] < dims[i])
                break;
            offset -= strides[i] * (size_t)dims[i];
            at[i] = 0;
        }
    }
}

static void undo_transpose(const prt_weight_step *s, size_t size, const void *from, void *to)
{
    size_t strides[PRT_MAX_RANK], step = 1;
    for (uint32_t i = s->rank; i-- > 0; step *= (size_t)s->dims[s->more[i]])
        strides[s->more[i]] = step;
    gather(s->rank, s->dims, strides, size, from, to);
}

static void undo_part(const prt_weight_step *s, size_t size, const unsigned char *from, void *to)
{
    int64_t dims[PRT_MAX_RANK];
    size_t strides[PRT_MAX_RANK], step = 1;
    memcpy(dims, s->dims, sizeof(dims));
    dims[s->more[0]] = s->more[2];
    for (uint32_t i = s->rank; i-- > 0; step *= (size_t)s->dims[i])
        strides[i] = step;
    gather(s->rank, dims, strides, size, from + strides[s->more[0]] * (size_t)s->more[1] * size,
        to);
}

/* Unpacks `n` columns of a matrix whose rows are `row` elements apart; returns the end of the
 * panels. */
static const unsigned char *undo_matrix(size_t k, size_t n, size_t row, const unsigned char *from,
    unsigned char *to)
{
    for (size_t first = 0; first < n; first += PRT_GEMM_PANEL) {
        const size_t some = prt_gemm_panel_columns(n, first);
        for (size_t i = 0; i < k; i++, from += prt_gemm_width(some) * sizeof(float))
            memcpy(to + (i * row + first) * sizeof(float), from, some * sizeof(float));
    }
    return from;
}

static void undo_panels(const prt_weight_step *s, const unsigned char *from, unsigned char *to)
{
    const size_t k = (size_t)s->dims[1], n = (size_t)s->dims[2], row = n + (size_t)s->dims[3];
    for (int64_t i = 0; i < s->dims[0]; i++, to += k * row * sizeof(float)) {
        from = undo_matrix(k, n, row, from, to);
        from = undo_matrix(k, row - n, row, from, to + n * sizeof(float));
    }
}

static void undo_integers(const prt_weight_step *s, const unsigned char *from, void *to)
{
    const uint32_t bits = (uint32_t)s->more[0], stored = bits == 8 ? 8 : 4;
    const int kind = bits == 8 ? PRT_LOW_PRECISION_i8 : PRT_LOW_PRECISION_i4;
    const uint32_t half = s->more[1] != 0 ? 0 : 1u << (bits - 1);
    const size_t rows = (size_t)s->dims[0], columns = (size_t)s->dims[1];
    if (bits < 8)
        memset(to, 0, rows * columns * bits / 8);
    for (size_t j = 0; j < columns; j++) {
        const size_t first = j / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
        const size_t width = prt_gemm_panel_width(columns, first);
        const unsigned char *panel =
            from + prt_low_precision_bytes(kind, first * prt_low_precision_rows(kind, rows));
        for (size_t k = 0; k < rows; k++) {
            const size_t at = prt_low_precision_at(kind, width, k, j - first);
            const uint32_t x = stored == 8 ? panel[at] : prt_packed_load(4, panel, at);
            const size_t index = k * (size_t)s->dims[2] + j * (size_t)s->dims[3];
            const uint32_t number = (x + half) & ((1u << bits) - 1);
            if (bits == 8)
                ((unsigned char *)to)[index] = (unsigned char)number;
            else
                prt_packed_store(bits, to, index, number);
        }
    }
}

/* Undoes a step that led from elements `e` to the ones at `from`. */
static void undo(const prt_weight_step *s, const elements *e, const void *from, void *to)
{
    const size_t size = prt_dtype_bits(e->dtype) / 8;
    switch (s->kind) {
    case PRT_WEIGHT_transpose:
        undo_transpose(s, size, from, to);
        break;
    case PRT_WEIGHT_part:
        undo_part(s, size, from, to);
        break;
    case PRT_WEIGHT_panels:
        undo_panels(s, from, to);
        break;
    case PRT_WEIGHT_convert:
        prt_convert((int32_t)s->dims[1], from, e->dtype, to, e->count);
        break;
    default:
        undo_integers(s, from, to);
        break;
    }
}

poprt_status prt_weight_form_restore(const prt_weight_form *form, const void *constant,
    const prt_allocator *allocator, void *to)
{
    elements e[PRT_WEIGHT_STEPS + 1];
    const void *from = constant;
    void *last = NULL; /* the result of the step that was undone last, unless it is in `to` */
    size_t size = 0;
    (void)begin(form->type, &e[0]);
    for (uint32_t i = 0; i < form->n_steps; i++) {
        e[i + 1] = e[i];
        (void)advance(&form->steps[i], &e[i + 1]);
    }
    if (form->n_steps == 0 && prt_dtype_size(e[0].dtype, e[0].count, &size) && size != 0)
        memcpy(to, constant, size);
    for (uint32_t i = form->n_steps; i-- > 0;) {
        void *next = to;
        (void)prt_dtype_size(e[i].dtype, e[i].count, &size);
        if (i != 0 && (next = prt_mem_alloc(allocator, size)) == NULL) {
            prt_mem_free(allocator, last);
            return POPRT_E_NOMEM;
        }
        undo(&form->steps[i], &e[i], from, next);
        prt_mem_free(allocator, last);
        last = i != 0 ? next : NULL;
        from = next;
    }
    return POPRT_OK;
}
