//===- ModelFlags.cpp - flags of models, which several commands share -----===//

#include "weft/tools/weft/CommandFlags.h"
#include "weft/tools/weft/FlagValues.h"
#include "weft/tools/weft/programs/Gpus.h"

using namespace weft;
using namespace weft::tool;

void weft::tool::addDevices(CLI::App &app, std::optional<DeviceList> &devices,
                            const std::string &usual) {
  app.add_option_function<std::string>(
      "--devices",
      [&devices](const std::string &text) {
        Result<DeviceList> read = readDevices(text);
        if (!read)
          throw CLI::ValidationError("--devices",
                                     inFlags(read.error().message));
        devices = *read;
      },
      "cpu:N; cuda:N, or cuda for all GPUs (default: " + usual + ")");
}

void weft::tool::addCollectives(CLI::App &app, std::string &mode) {
  app.add_option("--collectives", mode,
                 "how GPUs exchange data: nccl, peer (through each other's "
                 "memory), or exact (by NCCL, with the sums of one GPU; "
                 "default: peer for small arrays, else nccl)")
      ->check(isCollectiveMode());
}

void weft::tool::addBatchSize(CLI::App &app, ModelFlags &flags) {
  app.add_option_function<int64_t>(
         "--batch-size",
         [&flags](int64_t size) {
           flags.batchSize = size;
           flags.namesBatchSize = true;
         },
         "samples in a step (of a traced or compiled step: its own)")
      ->check(atLeast(1, "give the samples of a step"))
      ->default_str("32");
}

void weft::tool::addModel(CLI::App &app, ModelFlags &flags,
                          const char *accepted) {
  app.add_option("model", flags.model, accepted)->required();
  app.add_option("--shape", flags.shapes,
                 "NAME=16x128 fixes unknown dimensions of an input; repeated");
}

void weft::tool::addLayoutFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--distribution", flags.distribution,
                 "DataParallel or ModelParallel as a JSON file");
  app.add_flag("--data-parallel", flags.dataParallel,
               "split batches over all of --devices");
  addDevices(app, flags.devices,
             "as many as the mesh has, else " + DeviceList{}.text());
}

void weft::tool::addTiming(CLI::App &app, ModelFlags &flags) {
  app.add_flag("--timing", flags.timing, "print the time of each pass");
}

void weft::tool::addTargetFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option_function<std::string>(
         "--target",
         [&flags](const std::string &target) {
           flags.target = target;
           flags.namesTarget = true;
         },
         "native, cpu, cpu:host, cpu:avx512, cpu:avx2, cpu:generic, cpu:neon; "
         "cuda:native, cuda:sm_80, cuda:sm_90a and cuda:sm_100a for GPUs, "
         "where every kernel has code "
         "(docs/gpu.md); "
         "WEFT_TARGET sets the default")
      ->default_str(flags.target);
  app.add_option("--matmul-precision", flags.matmulPrecision,
                 "f32 (the default), or tf32: GPUs may round the operands of "
                 "contractions of f32 to ten bits of mantissa, as JAX does "
                 "there, and multiply on tensor cores")
      ->check(isMatmulPrecision());
  addTiming(app, flags);
}

void weft::tool::addGraphs(CLI::App &app, bool &graphs) {
  app.add_option_function<std::string>(
         "--graphs",
         [&graphs](const std::string &text) { graphs = text == "on"; },
         "on (the default): a GPU launches the instructions between two jumps "
         "together, as a CUDA graph; off: one by one")
      ->check(isSwitch());
}

void weft::tool::addShare(CLI::App &app, bool &share) {
  app.add_option_function<std::string>(
         "--share", [&share](const std::string &text) { share = text == "on"; },
         "on (the default): CPU devices of one process store and compute once "
         "what layouts prove equal on them; off: each on its own, with the "
         "same bits")
      ->check(isSwitch());
}

void weft::tool::addLossFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--loss", flags.loss, "a Keras name or JSON");
  app.add_option("--metrics", flags.metrics,
                 "Keras names or JSON objects, comma-separated");
}

void weft::tool::addOptimizerFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--optimizer", flags.optimizer, "a Keras name or JSON");
  app.add_option("--learning-rate", flags.learningRate, "of the optimizer")
      ->check(isRate());
}

void weft::tool::addSeed(CLI::App &app, ModelFlags &flags) {
  app.add_option("--seed", flags.seed,
                 "as keras.utils.set_random_seed (default: drawn, printed)");
}

void weft::tool::addMicrobatchFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--microbatches", flags.microbatches,
                 "divide each batch in N parts, compute one after the other, "
                 "and update once: activations take about 1/N of the memory")
      ->check(atLeast(1, "1 computes the whole batch at once"))
      ->capture_default_str();
  app.add_flag("--allow-microbatch-statistics", flags.allowMicrobatchStatistics,
               "where samples need statistics of the batch, as in batch "
               "normalization, a microbatch uses its own (docs/fit.md)");
}

void weft::tool::addOverlap(CLI::App &app, ModelFlags &flags) {
  app.add_option("--overlap", flags.overlap,
                 "auto (the default): devices compute while links carry "
                 "collectives, where that ends a step earlier; on: wherever a "
                 "collective can be awaited later; off: each is awaited at "
                 "once. Values have the same bits")
      ->check(isAutoOnOrOff());
  app.add_option("--rings", flags.rings,
                 "auto (the default): a contraction of a gathered operand, or "
                 "one whose result is reduced and scattered, is computed block "
                 "by block while the blocks travel, where that ends a step "
                 "earlier; on: wherever it is possible; off: nowhere. Sums may "
                 "differ in their last bits")
      ->check(isAutoOnOrOff());
}

void weft::tool::addBudgetFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--memory", flags.memory,
                 "memory per device (64MiB): where the step does not fit, "
                 "gathered weights are released and gathered again for the "
                 "backward pass; if it still does not fit, compilation fails");
  app.add_option("--expect", flags.expect,
                 "a budget of the step that must hold: \"all_reduce<=2, "
                 "bytes<=4e6, memory<=64MiB\"; repeated");
}
