#include "glassformer/inspect/cost_checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "glassformer/autograd/autograd.h"
#include "glassformer/base/random.h"
#include "glassformer/nn/parameter_store.h"
#include "glassformer/train/trainer.h"

namespace glass {

namespace {

double seconds_of_update(TrainingTask& task, int64_t batch, Precision precision) {
  const auto start = std::chrono::steady_clock::now();
  const RandomScope random({1, 1, 0});
  const PrecisionScope multiply_in(precision);
  backward(task.loss(batch).loss);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int64_t updates_of(const Recipe& r, int64_t batches) {
  if (r.train.steps) return *r.train.steps;
  return r.train.epochs ? *r.train.epochs * batches / std::max<int64_t>(1, r.train.accumulate) : 0;
}

}  // namespace

std::string RunCost::text() const {
  std::string text = fmt::format("an update takes about {:.2f} s here and {:.2f} GB", update_seconds, peak_bytes / 1e9);
  if (updates == 0) return text;
  return text + fmt::format("; the run's {} about {:.0f} minutes, validation apart", updates,
                            std::max(1.0, update_seconds * static_cast<double>(updates) / 60));
}

RunCost predict_run(TrainingTask& task, const Recipe& recipe) {
  const int64_t batches = task.begin_epoch(0);
  const Precision precision = training_precision(recipe);
  const ParameterStore parameters(task.module());
  task.module().train(true);
  reset_peak_memory();
  seconds_of_update(task, batches / 2, precision);  // fills the allocator
  const double seconds = seconds_of_update(task, batches / 2, precision);
  task.module().train(false);
  return {seconds * static_cast<double>(recipe.train.accumulate), static_cast<double>(memory_use().peak),
          updates_of(recipe, batches)};
}

StepMemory predict_memory(const TransformerConfig& c, const StepShape& s) {
  constexpr double bytes = 4, with_gradient = 2;
  const auto b = static_cast<double>(s.batch), source = static_cast<double>(s.source),
             target = static_cast<double>(s.target), heads = static_cast<double>(c.heads),
             d = static_cast<double>(c.d_model), f = static_cast<double>(c.d_ff);
  const double in = c.encoder_layers, out = c.decoder_layers;
  const auto vocabulary = static_cast<double>(c.target_vocabulary);
  StepMemory m;
  // Scores and weights of each attention, H of them an example.
  const double pairs = in * source * source + out * (target * target + target * source);
  m.attention = bytes * with_gradient * 2 * b * heads * pairs;
  // A layer keeps about 4·D for each attention (query, key, value, context), 4·D of streams and norms, 2·F.
  const double encoder = in * source * (8 * d + 2 * f), decoder = out * target * (12 * d + 2 * f);
  m.activations = bytes * with_gradient * b * (encoder + decoder + target * vocabulary);
  // Value, gradient and two moments.
  const double layers = in * (4 * d * d + 2 * d * f) + out * (8 * d * d + 2 * d * f);
  m.parameters = bytes * 4 * (layers + d * (vocabulary + static_cast<double>(c.source_vocabulary)));
  return m;
}

Findings check_memory(const TransformerConfig& config, const StepShape& shape, double available) {
  const StepMemory m = predict_memory(config, shape);
  const bool too_much = m.total() > available, quadratic = m.attention > 0.5 * available;
  if (!too_much && !quadratic) return {};
  constexpr double gigabyte = 1e9;
  Finding f;
  f.check = "memory";
  f.what = quadratic ? "attention's weights, which grow with T², take most of the memory there is"
                     : "a training step takes more memory than there is";
  f.evidence = {{"GB for a step", m.total() / gigabyte, fmt::format("under {:.1f}", available / gigabyte)},
                {"GB of them for scores and weights, growing with T·S", m.attention / gigabyte,
                 fmt::format("under {:.1f}", available / 2 / gigabyte)}};
  f.cause = fmt::format("{} rows of {} and {} tokens, {} heads", shape.batch, shape.source, shape.target, config.heads);
  f.remedy = quadratic ? "a smaller data.max_length (half the length takes a quarter), then a smaller batch"
                       : "a smaller batch with train.accumulate, or a smaller model";
  return {f};
}

double physical_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace glass
