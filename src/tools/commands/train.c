/* SPDX-License-Identifier: MIT */
/* train.c — `poprt train`: trains an ONNX model on samples from files. */
#include "base/list.h"
#include "tools/commands.h"
#include "tools/train/loop.h"

enum {
    OPT_HELP,
    OPT_LOSS,
    OPT_OPTIMIZER,
    OPT_DATA,
    OPT_STEPS,
    OPT_EPOCHS,
    OPT_BATCH,
    OPT_ACCUMULATE,
    OPT_REPLICAS,
    OPT_SCHEDULE,
    OPT_WARMUP,
    OPT_SEED,
    OPT_SHUFFLE,
    OPT_FROZEN,
    OPT_VALIDATE,
    OPT_ACCURACY,
    OPT_EVERY,
    OPT_OUTPUT,
    OPT_CHECKPOINT,
    OPT_KEEP,
    OPT_RESUME,
    OPT_CURVE,
    OPT_JSON,
    OPT_THREADS,
    OPT_DISABLE_PASSES,
    OPT_SET,
    OPT_CPU,
    OPT_PLUGIN,
    OPT_COUNT
};

/* The row of an option with a whole number. */
#define NUMBER(name_, accepts_, absent_, help_)                                                    \
    {                                                                                              \
        .name = name_, .arity = PRT_OPT_ONE, .value = "N", .accepts = accepts_, .absent = absent_, \
        .help = help_                                                                              \
    }

/* The row of an option with the path of a file, or of a file or folder. */
#define PATH(name_, value_, takes_, help_)                                                         \
    {                                                                                              \
        .name = name_, .arity = PRT_OPT_ONE, .value = value_, .takes = takes_, .help = help_       \
    }

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_LOSS] = PRT_OPT("loss", 0, PRT_OPT_ONE, "LOSS",
        "tensor of the model that is the loss, or a loss to add: cross_entropy:OUTPUT,LABELS of "
        "the "
        "scores before Softmax, or mse:OUTPUT,TARGET, the mean of squared differences; required"),
    [OPT_OPTIMIZER] = PRT_OPT("optimizer", 0, PRT_OPT_ONE, "KIND:KEY=VALUE,...",
        "sgd, adam, adamw, adamax, lamb, rmsprop, adagrad, adadelta or another kind of "
        "poprt/train.h, with its values: lr, wd, momentum, beta1, beta2, eps and others; clip is "
        "the largest norm of all gradients together; required"),
    [OPT_DATA] = PATH("data", "PATH", PRT_TAKES_FILE,
        "a folder of INPUT.npy files, or an .npz archive; axis 0 of each array counts the samples; "
        "required"),
    [OPT_STEPS] = NUMBER("steps", "int 1..", NULL, "number of updates of the weights"),
    [OPT_EPOCHS] = NUMBER("epochs", "int 1..", NULL,
        "number of passes over the data, instead of --steps; samples that do not fill a step at "
        "the "
        "end of an epoch are left out"),
    [OPT_BATCH] = NUMBER("batch", "int 1..1000000000", NULL,
        "samples of a micro-batch; default: the first dimension of the inputs if it is a number, "
        "else 32"),
    [OPT_ACCUMULATE] = NUMBER("accumulate", "int 1..1000000", "1",
        "micro-batches whose gradients are averaged for an update"),
    [OPT_REPLICAS] = NUMBER("replicas", "int 1..1024", "1",
        "replicas, each with micro-batches of its own; gradients are averaged"),
    [OPT_SCHEDULE] = { .name = "schedule",
        .arity = PRT_OPT_ONE,
        .value = "SCHEDULE",
        .absent = "constant",
        .help = "learning rate over the steps, from lr of the optimizer: constant; linear:LAST; "
                "cosine, down to 0; step:N:FACTOR, multiplied by FACTOR every N steps" },
    [OPT_WARMUP] = NUMBER("warmup", "int 0..1000000000", "0",
        "steps at the beginning during which the learning rate rises to lr"),
    [OPT_SEED] =
        NUMBER("seed", "int 0..", "0", "seed of the order of samples and of random operators"),
    [OPT_SHUFFLE] = { .name = "shuffle",
        .arity = PRT_OPT_ONE,
        .value = "BOOL",
        .accepts = "bool",
        .absent = "true",
        .help = "read the samples of each epoch in another order, which depends on the seed and "
                "the number of the epoch" },
    [OPT_FROZEN] = PRT_OPT("frozen", 0, PRT_OPT_EACH, "A,B,...",
        "weights that are not trained; may be repeated"),
    [OPT_VALIDATE] = PATH("validate", "PATH", PRT_TAKES_FILE,
        "data like that of --data, on which the loss is computed for every report"),
    [OPT_ACCURACY] = PRT_OPT("accuracy", 0, PRT_OPT_ONE, "OUTPUT,LABELS",
        "with --validate, the share of samples whose label has the largest score; default: those "
        "of "
        "the cross entropy"),
    [OPT_EVERY] = NUMBER("every", "int 1..", NULL,
        "steps between reports, each of which validates and writes checkpoint and curve; default: "
        "an epoch"),
    [OPT_OUTPUT] = PATH("output", "FILE", PRT_TAKES_FILE,
        "write the model with the trained weights, without an added loss"),
    [OPT_CHECKPOINT] =
        PATH("checkpoint", "FILE", PRT_TAKES_FILE, "write the state of training with every report"),
    [OPT_KEEP] = NUMBER("keep", "int 0..1000", "1",
        "older checkpoints to keep, as FILE.1, the newest, to FILE.N"),
    [OPT_RESUME] = PRT_OPT("resume", 0, PRT_OPT_FLAG, NULL,
        "continue from the checkpoint if it exists; with the same options and data the result has "
        "the same bits as without the interruption"),
    [OPT_CURVE] = PATH("curve", "FILE", PRT_TAKES_FILE,
        "write the losses over the steps as an SVG image; with --resume, those of the file up to "
        "the "
        "checkpoint are kept"),
    [OPT_JSON] = PRT_OPT("json", 0, PRT_OPT_FLAG, NULL,
        "print each report as a JSON object in one line, and no summary"),
    [OPT_THREADS] = PRT_TOOL_THREADS("0"),
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_SET] = PRT_OPT("set", 0, PRT_OPT_EACH, "KEY=VALUE",
        "an option for compiling the training program, such as keep_model_form, master_weights or "
        "automatic_loss_scaling; @FILE: options of a file; may be repeated"),
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
};

static int command_train(int argc, char **argv);

const prt_opt_command prt_train_command = { .name = "poprt train",
    .run = command_train,
    .args = "MODEL",
    .brief = "train a model on samples from files",
    .summary = "Trains the weights of an ONNX model on samples from .npy or .npz files.",
    .more = "The weights are the floating-point initializers except scalars; in a model that lists "
            "initializers among its inputs, only these. BatchNormalization uses the statistics of "
            "micro-batches and updates its running ones, and Dropout drops elements. Ctrl-C ends "
            "training after the present step, writes the checkpoint and exits with code 130. The "
            "loss of a report is the mean of the steps since the report before.",
    .examples =
        "  poprt train tests/fixtures/digits_training/untrained.onnx --output new.onnx \\\n"
        "      --loss cross_entropy:logits,label --epochs 5 --optimizer adam:lr=0.003 \\\n"
        "      --data tests/fixtures/digits_training/train \\\n"
        "      --validate tests/fixtures/digits_training/held_back\n"
        "  poprt train model.onnx --loss loss --data data.npz --steps 9999 --output new.onnx \\\n"
        "      --optimizer sgd:lr=0.1,momentum=0.9 --every 500 --checkpoint state --resume\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = 1 };

/* Checks the presence and the combinations of options. */
static bool check_options(const prt_opts *opts, int *exit_code)
{
    static const uint32_t required[] = { OPT_LOSS, OPT_OPTIMIZER, OPT_DATA };
    const char *wrong = NULL;
    for (size_t i = 0; i < PRT_COUNT_OF(required); i++)
        if (!prt_opt_has(opts, required[i])) {
            *exit_code = prt_opt_usage_error(&prt_train_command, "--%s is missing",
                options[required[i]].name);
            return false;
        }
    if (prt_opt_has(opts, OPT_STEPS) == prt_opt_has(opts, OPT_EPOCHS))
        wrong = "either --steps or --epochs must be given";
    else if (prt_opt_has(opts, OPT_RESUME) && !prt_opt_has(opts, OPT_CHECKPOINT))
        wrong = "--resume needs --checkpoint FILE";
    else if (prt_opt_has(opts, OPT_KEEP) && !prt_opt_has(opts, OPT_CHECKPOINT))
        wrong = "--keep needs --checkpoint FILE";
    else if (prt_opt_has(opts, OPT_ACCURACY) && !prt_opt_has(opts, OPT_VALIDATE))
        wrong = "--accuracy needs --validate PATH";
    if (wrong != NULL)
        *exit_code = prt_opt_usage_error(&prt_train_command, "%s", wrong);
    return wrong == NULL;
}

/* Refuses options of compiling that other options of this command set. */
static poprt_status check_set(const prt_tool *tool)
{
    static const struct {
        prt_option_id id;
        const char *use;
    } keys[] = { { PRT_OPTION_enable_gradient_accumulation, "--accumulate" },
        { PRT_OPTION_accumulation_factor, "--accumulate" },
        { PRT_OPTION_enable_replicated_graphs, "--replicas" },
        { PRT_OPTION_replicated_graph_count, "--replicas" },
        { PRT_OPTION_input_group_size, "--replicas" } };
    for (size_t i = 0; i < PRT_COUNT_OF(keys); i++)
        if (strcmp(prt_config_text(tool->config, keys[i].id), prt_config_text(NULL, keys[i].id)) !=
            0)
            return prt_fail(POPRT_E_ARG, "--set", "%s is not accepted here; use %s",
                prt_option_rows[keys[i].id].info.key, keys[i].use);
    return POPRT_OK;
}

static poprt_status read_frozen(prt_tool *tool, const prt_opts *opts, prt_train_settings *s)
{
    PRT_VEC(const char *) names = { 0 };
    uint32_t cursor = 0;
    prt_str item;
    for (const char *list; (list = prt_opt_next(opts, OPT_FROZEN, &cursor)) != NULL;)
        while (prt_list_next(&list, &item)) {
            const char *name = prt_arena_text(tool->arena, item.data, item.size);
            if (name == NULL || !PRT_VEC_PUSH(tool->arena, &names, name))
                return POPRT_E_NOMEM;
        }
    s->frozen = names.data;
    s->n_frozen = names.count;
    return POPRT_OK;
}

/* Applies the options on plug-ins and compiling. */
static poprt_status configure(prt_tool *tool, const prt_opts *opts)
{
    const char *cpu = prt_opt_value(opts, OPT_CPU, NULL);
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_PLUGIN));
    PRT_TRY(prt_tool_set(tool, "accumulation_and_replication_reduction_type=mean"));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(check_set(tool));
    return cpu != NULL ? poprt_config_set(tool->config, "cpu", cpu) : POPRT_OK;
}

/* Reads the settings. A failure is a usage error. */
static poprt_status read_settings(prt_tool *tool, const prt_opts *opts, prt_train_settings *s)
{
    const char *accuracy = prt_opt_value(opts, OPT_ACCURACY, NULL);
    *s = (prt_train_settings){ .model = opts->args[0],
        .data = prt_opt_value(opts, OPT_DATA, NULL),
        .validation = prt_opt_value(opts, OPT_VALIDATE, NULL),
        .checkpoint = prt_opt_value(opts, OPT_CHECKPOINT, NULL),
        .output = prt_opt_value(opts, OPT_OUTPUT, NULL),
        .curve = prt_opt_value(opts, OPT_CURVE, NULL),
        .steps = prt_opt_number(opts, OPT_STEPS, 0),
        .epochs = prt_opt_number(opts, OPT_EPOCHS, 0),
        .batch = prt_opt_number(opts, OPT_BATCH, 0),
        .accumulate = prt_opt_number(opts, OPT_ACCUMULATE, 1),
        .replicas = prt_opt_number(opts, OPT_REPLICAS, 1),
        .every = prt_opt_number(opts, OPT_EVERY, 0),
        .keep = prt_opt_number(opts, OPT_KEEP, 1),
        .seed = (uint64_t)prt_opt_number(opts, OPT_SEED, 0),
        .has_seed = prt_opt_has(opts, OPT_SEED),
        .shuffle = prt_tool_is_true(prt_opt_value(opts, OPT_SHUFFLE, NULL), true),
        .resume = prt_opt_has(opts, OPT_RESUME),
        .json = prt_opt_has(opts, OPT_JSON) };
    PRT_TRY(configure(tool, opts));
    PRT_TRY(read_frozen(tool, opts, s));
    if (accuracy != NULL)
        PRT_TRY(prt_train_split_pair(tool->arena, "--accuracy", accuracy, &s->scores, &s->labels));
    PRT_TRY(prt_train_loss_read(tool->arena, prt_opt_value(opts, OPT_LOSS, ""), &s->loss));
    PRT_TRY(
        prt_train_optimizer_create(tool, prt_opt_value(opts, OPT_OPTIMIZER, ""), &s->optimizer));
    return prt_train_schedule_read(prt_opt_value(opts, OPT_SCHEDULE, "constant"),
        prt_opt_number(opts, OPT_WARMUP, 0), s->optimizer, &s->schedule);
}

static int command_train(int argc, char **argv)
{
    enum { SIGNAL_BASE = 128 }; /* exit code of a signal, as shells have it */
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED, signal = 0;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_train_command, argc, argv, &opts, &exit_code) &&
        check_options(&opts, &exit_code)) {
        prt_tool tool = { 0 };
        prt_train_settings s = { 0 };
        poprt_status status = prt_tool_open(&tool, (uint32_t)prt_opt_number(&opts, OPT_THREADS, 0));
        if (status == POPRT_OK)
            status = read_settings(&tool, &opts, &s);
        if (status == POPRT_OK)
            status = prt_train_run(&tool, &s, &signal);
        prt_progress_clear(&tool.progress);
        exit_code = status != POPRT_OK ? PRT_REPORT_OF(&tool, &prt_train_command)
            : signal != 0              ? SIGNAL_BASE + signal
                                       : PRT_EXIT_DONE;
        poprt_optimizer_release(s.optimizer);
        prt_tool_close(&tool);
    }
    prt_arena_release(arena);
    return exit_code;
}
