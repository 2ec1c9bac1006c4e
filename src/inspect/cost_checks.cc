#include "glassformer/inspect/cost_checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace glass {

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
