/* SPDX-License-Identifier: MIT */
/*
 * decode.c — bytes to a program: every length is checked against what is left before anything is
 * allocated for it. Relations between the parts are check.c's.
 */
#include "op/op.h"
#include "program/codec.h"

typedef struct source {
    prt_program *program;
    prt_arena *arena;
    const unsigned char *at, *end;
    uint32_t version;
    poprt_status status;
} source;

/* The first failure sticks; reads after it give zeros. */
static void fail(source *s, poprt_status status)
{
    if (s->status == POPRT_OK)
        s->status = status;
}

static void torn(source *s, const char *what)
{
    if (s->status == POPRT_OK)
        s->status = prt_fail(POPRT_E_PARSE, NULL, "executable is damaged: %s", what);
}

static const unsigned char *take(source *s, size_t size)
{
    if (s->status != POPRT_OK)
        return NULL;
    if (size > (size_t)(s->end - s->at)) {
        torn(s, "it ends too early");
        return NULL;
    }
    const unsigned char *p = s->at;
    s->at += size;
    return p;
}

static uint64_t get_u64(source *s)
{
    const unsigned char *p = take(s, 8);
    uint64_t v = 0;
    for (int i = 7; p != NULL && i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static uint32_t get_u32(source *s)
{
    const unsigned char *p = take(s, 4);
    return p == NULL ? 0
                     : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
            (uint32_t)p[3] << 24;
}

static int64_t get_i64(source *s)
{
    return (int64_t)get_u64(s);
}

static float get_f32(source *s)
{
    const uint32_t bits = get_u32(s);
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* A count of things that take at least `least` bytes each in the stream. */
static uint32_t get_count(source *s, size_t least)
{
    const uint32_t n = get_u32(s);
    if (s->status == POPRT_OK && n > (size_t)(s->end - s->at) / least) {
        torn(s, "a count is larger than what follows");
        return 0;
    }
    return n;
}

static prt_str get_str(source *s)
{
    const uint32_t n = get_count(s, 1);
    const unsigned char *p = take(s, n);
    if (p == NULL)
        return PRT_STR("");
    const char *text = prt_arena_text(s->arena, (const char *)p, n);
    if (text == NULL) {
        fail(s, POPRT_E_NOMEM);
        return PRT_STR("");
    }
    return (prt_str){ text, n };
}

static void *get_array(source *s, uint32_t count, size_t size)
{
    void *p = s->status == POPRT_OK ? prt_arena_alloc_n(s->arena, count, size) : NULL;
    if (p == NULL)
        fail(s, POPRT_E_NOMEM);
    return p;
}

/* A dim of a type: a number that is no negative, unknown, or an expression that exists. */
static int64_t get_dim(source *s)
{
    const int64_t d = get_i64(s);
    if (prt_dim_is_number(d) ? d < 0
                             : d != PRT_DIM_UNKNOWN &&
                prt_dim_index(d) >= prt_dims_count(s->program->dims))
        torn(s, "a dimension is neither a number nor a known expression");
    return d;
}

static const prt_type *get_type(source *s)
{
    struct {
        int32_t kind, dtype;
    } wraps[PRT_MAX_TYPE_DEPTH];
    prt_types *types = s->program->types;
    const prt_type *type = NULL;
    uint32_t depth = 0;
    for (;;) {
        const int32_t kind = (int32_t)get_u32(s), dtype = (int32_t)get_u32(s);
        const int32_t rank = (int32_t)get_u32(s);
        if (kind < PRT_VALUE_TENSOR || kind > PRT_VALUE_UNKNOWN || dtype < 0 ||
            dtype >= PRT_DTYPE_COUNT || rank < PRT_RANK_UNKNOWN || rank > PRT_MAX_RANK)
            torn(s, "a type is none");
        int64_t dims[PRT_MAX_RANK] = { 0 };
        for (int32_t i = 0; s->status == POPRT_OK && i < rank; i++)
            dims[i] = get_dim(s);
        if (s->status != POPRT_OK)
            return NULL;
        if (kind == PRT_VALUE_TENSOR) {
            type = prt_type_tensor(types, dtype, rank, dims);
            break;
        }
        const bool more = get_u32(s) != 0;
        if (!more) {
            type = prt_type_wrap(types, kind, dtype, NULL);
            break;
        }
        if (depth == PRT_MAX_TYPE_DEPTH) {
            torn(s, "a type is nested too deep");
            return NULL;
        }
        wraps[depth].kind = kind;
        wraps[depth++].dtype = dtype;
    }
    while (type != NULL && depth > 0) {
        depth--;
        type = prt_type_wrap(types, wraps[depth].kind, wraps[depth].dtype, type);
    }
    if (type == NULL)
        fail(s, POPRT_E_NOMEM);
    return type;
}

static void get_strings(source *s, prt_tensor *t)
{
    const size_t n = prt_tensor_count(t);
    if (n > (size_t)(s->end - s->at) / 4) {
        torn(s, "a string tensor is larger than what follows");
        return;
    }
    poprt_string *strings = get_array(s, (uint32_t)n, sizeof(*strings));
    for (size_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const prt_str text = get_str(s);
        strings[i] = (poprt_string){ text.data, text.size };
    }
    t->data = strings;
}

static const prt_tensor *get_tensor(source *s)
{
    if (get_u32(s) == 0)
        return NULL;
    const int32_t dtype = (int32_t)get_u32(s);
    const uint32_t rank = get_u32(s);
    int64_t dims[PRT_MAX_RANK] = { 0 };
    if (rank > PRT_MAX_RANK)
        torn(s, "a tensor's rank is too large");
    for (uint32_t i = 0; s->status == POPRT_OK && i < rank; i++)
        dims[i] = get_i64(s);
    prt_tensor *t = get_array(s, 1, sizeof(prt_tensor));
    if (s->status != POPRT_OK)
        return NULL;
    if (!prt_tensor_init(t, dtype, rank, dims, NULL)) {
        torn(s, "a tensor's shape is impossible");
        return NULL;
    }
    if (dtype == PRT_DTYPE_string) {
        get_strings(s, t);
        return t;
    }
    if (get_u64(s) != t->size)
        torn(s, "a tensor's size does not fit its shape");
    const unsigned char *p = take(s, t->size);
    t->data = p != NULL ? prt_arena_copy(s->arena, p, t->size) : NULL;
    if (t->data == NULL)
        fail(s, POPRT_E_NOMEM);
    return t;
}

static void get_attr(source *s, uint32_t kind, void *at)
{
    switch (kind) {
    case PRT_ATTR_i64:
        *(int64_t *)at = get_i64(s);
        break;
    case PRT_ATTR_f32:
        *(float *)at = get_f32(s);
        break;
    case PRT_ATTR_str:
        *(prt_str *)at = get_str(s);
        break;
    case PRT_ATTR_i64s: {
        const uint32_t n = get_count(s, 8);
        int64_t *data = get_array(s, n, sizeof(int64_t));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = get_i64(s);
        *(prt_i64s *)at = (prt_i64s){ data, n };
        break;
    }
    case PRT_ATTR_f32s: {
        const uint32_t n = get_count(s, 4);
        float *data = get_array(s, n, sizeof(float));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = get_f32(s);
        *(prt_f32s *)at = (prt_f32s){ data, n };
        break;
    }
    case PRT_ATTR_strs: {
        const uint32_t n = get_count(s, 4);
        prt_str *data = get_array(s, n, sizeof(prt_str));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = get_str(s);
        *(prt_strs *)at = (prt_strs){ data, n };
        break;
    }
    case PRT_ATTR_tensor:
        *(const prt_tensor **)at = get_tensor(s);
        break;
    case PRT_ATTR_graph:
        *(uint32_t *)at = get_u32(s);
        break;
    default:
        *(const prt_type **)at = get_u32(s) != 0 ? get_type(s) : NULL;
        break;
    }
}

static void get_params(source *s, prt_eval_params *p)
{
    const prt_str domain = get_str(s), name = get_str(s);
    p->origin = get_str(s);
    p->merged = s->version >= 2 ? get_str(s) : PRT_STR("");
    const prt_str plugin = s->version >= 3 ? get_str(s) : PRT_STR("");
    if (s->status != POPRT_OK)
        return;
    p->def = prt_op_find_in(s->program->ops, domain, name);
    if (p->def == NULL && plugin.size != 0) {
        fail(s, prt_fail(POPRT_E_PLUGIN, p->origin.data,
            "executable needs operator %.100s.%.100s of plug-in %.100s: load that "
            "first (poprt_env_load_plugin, or --plugin)",
            domain.data, name.data, plugin.data));
        return;
    }
    if (p->def == NULL) {
        fail(s, prt_fail(POPRT_E_VERSION, p->origin.data,
            "executable needs operator %.100s, which this build does not have", name.data));
        return;
    }
    char *attrs = prt_arena_copy(s->arena, p->def->defaults, p->def->attrs_size);
    if (attrs == NULL) {
        fail(s, POPRT_E_NOMEM);
        return;
    }
    p->attrs = attrs;
    const uint32_t n = get_count(s, 12);
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const prt_str attr = get_str(s);
        const uint32_t kind = get_u32(s), given = get_u32(s);
        const uint32_t index = s->status == POPRT_OK ? prt_op_attr(p->def, attr) : UINT32_MAX;
        if (index == UINT32_MAX || p->def->attrs[index].kind != kind) {
            torn(s, "an attribute is not of its operator");
            return;
        }
        get_attr(s, kind, attrs + p->def->attrs[index].offset);
        if (given != 0)
            *(uint64_t *)(void *)attrs |= (uint64_t)1 << index;
    }
    p->n_regions = get_count(s, 4);
    uint32_t *regions = get_array(s, p->n_regions, sizeof(uint32_t));
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_regions; i++)
        regions[i] = get_u32(s);
    p->regions = regions;
}

static const uint32_t *get_indices(source *s, uint32_t *count)
{
    *count = get_count(s, 4);
    uint32_t *list = get_array(s, *count, sizeof(uint32_t));
    for (uint32_t i = 0; s->status == POPRT_OK && i < *count; i++)
        list[i] = get_u32(s);
    return list;
}

static void get_block(source *s, prt_block *b)
{
    b->name = get_str(s);
    b->parent = get_u32(s);
    b->is_static = get_u32(s) != 0;
    b->plan_size = get_u64(s);
    b->plan_peak = get_u64(s);
    b->inputs = get_indices(s, &b->n_inputs);
    b->outputs = get_indices(s, &b->n_outputs);
    b->n_buffers = get_count(s, 40);
    b->buffers = get_array(s, b->n_buffers, sizeof(prt_buffer));
    for (uint32_t i = 0; s->status == POPRT_OK && i < b->n_buffers; i++) {
        prt_buffer *x = &b->buffers[i];
        x->name = get_str(s);
        x->type = get_type(s);
        x->space = get_u32(s);
        x->ref = get_u32(s);
        x->first = get_u32(s);
        x->last = get_u32(s);
        x->offset = get_u64(s);
    }
    b->n_steps = get_count(s, 20);
    prt_step *steps = get_array(s, b->n_steps, sizeof(prt_step));
    for (uint32_t i = 0; s->status == POPRT_OK && i < b->n_steps; i++) {
        const uint32_t kernel = get_u32(s);
        steps[i].kernel = (uint16_t)(kernel < PRT_KERNEL_COUNT ? kernel : PRT_KERNEL_COUNT);
        steps[i].args = get_u32(s);
        steps[i].n_in = get_u32(s);
        steps[i].n_out = get_u32(s);
        steps[i].params = get_u32(s);
    }
    b->steps = steps;
}

/* Nodes are made again in the order they were made first, so expressions keep their indices. */
static void get_dims(source *s)
{
    prt_dims *dims = s->program->dims;
    const uint32_t n = get_count(s, 8);
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const uint32_t op = get_u32(s);
        if (op == PRT_DIM_SYMBOL) {
            const prt_str name = get_str(s);
            if (s->status == POPRT_OK)
                (void)prt_dim_symbol(dims, name);
        } else {
            const int64_t a = get_i64(s), b = get_i64(s);
            if (op >= PRT_DIM_OPS || (prt_dim_is_expr(a) && prt_dim_index(a) >= i) ||
                (prt_dim_is_expr(b) && prt_dim_index(b) >= i))
                torn(s, "an expression is none");
            else
                (void)prt_dim_make(dims, (prt_dim_op)op, a, b);
        }
        if (s->status == POPRT_OK && prt_dims_count(dims) != (size_t)i + 1)
            torn(s, "an expression is written in an unknown way");
    }
}

static prt_io *get_io(source *s, uint32_t *count)
{
    *count = get_count(s, 16);
    prt_io *io = get_array(s, *count, sizeof(prt_io));
    for (uint32_t i = 0; s->status == POPRT_OK && i < *count; i++) {
        io[i].name = get_str(s);
        io[i].type = get_type(s);
    }
    return io;
}

static void get_constants(source *s)
{
    prt_program *p = s->program;
    const uint32_t n = get_count(s, 16);
    prt_constant *constants = get_array(s, n, sizeof(prt_constant));
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        constants[i].name = get_str(s);
        constants[i].type = get_type(s);
        if (s->status == POPRT_OK && !prt_type_is_static(constants[i].type))
            torn(s, "a constant has no fixed shape");
    }
    p->constants = constants;
    p->n_constants = s->status == POPRT_OK ? n : 0;
}

static void get_gone(source *s)
{
    s->program->n_gone = get_count(s, 12);
    prt_gone *gone = get_array(s, s->program->n_gone, sizeof(prt_gone));
    for (uint32_t i = 0; s->status == POPRT_OK && i < s->program->n_gone; i++) {
        gone[i].node = get_str(s);
        gone[i].op = get_str(s);
        gone[i].pass = get_str(s);
    }
    s->program->gone = gone;
}

poprt_status prt_program_decode(prt_program *program, const void *bytes, size_t size)
{
    source s = { .program = program, .arena = program->arena, .at = bytes,
        .end = (const unsigned char *)bytes + size, .status = POPRT_OK };
    const uint32_t version = s.version = get_u32(&s);
    if (s.status == POPRT_OK && (version < PRT_CODEC_OLDEST || version > PRT_CODEC_VERSION))
        return prt_fail(POPRT_E_VERSION, NULL,
            "executable has format %u, this library reads %u to %u: compile the model again",
            version, PRT_CODEC_OLDEST, PRT_CODEC_VERSION);
    program->source = get_str(&s);
    get_dims(&s);
    get_constants(&s);
    program->inputs = get_io(&s, &program->n_inputs);
    program->outputs = get_io(&s, &program->n_outputs);
    program->args = get_indices(&s, &program->n_args);
    program->n_params = get_count(&s, 20);
    program->params = get_array(&s, program->n_params, sizeof(prt_eval_params));
    for (uint32_t i = 0; s.status == POPRT_OK && i < program->n_params; i++)
        get_params(&s, &program->params[i]);
    program->n_blocks = get_count(&s, 40);
    program->blocks = get_array(&s, program->n_blocks, sizeof(prt_block));
    for (uint32_t i = 0; s.status == POPRT_OK && i < program->n_blocks; i++)
        get_block(&s, &program->blocks[i]);
    if (s.version >= 2)
        get_gone(&s);
    if (s.version >= 4)
        program->n_graphs = get_u32(&s);
    if (s.status == POPRT_OK && s.at != s.end)
        torn(&s, "bytes are left over");
    return s.status;
}
