// How gradients come back, and where numbers are lost.
#include <algorithm>
#include <cmath>
#include <limits>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/inspect/residual_checks.h"
#include "inspect/gradients.h"
#include "inspect/measure.h"
#include "train/preflight.h"

namespace glass {

using measure::last_name;

namespace {

struct StreamGradient {
  std::string path;
  Tensor stream;
};

// Of one stack, from input to output.
struct GradientTrend {
  std::string first, last;
  double factor = 1;  // by which the gradient grows with each sub-layer on its way back
  bool finite = true;
};

GradientTrend trend_of(const std::vector<StreamGradient>& streams) {
  std::vector<double> sizes;
  for (const StreamGradient& s : streams) {
    if (s.stream.grad().defined()) sizes.push_back(measure::rms(s.stream.grad()));
  }
  GradientTrend trend{streams.front().path, streams.back().path};
  if (sizes.size() < 2) return trend;
  const double ratio = sizes.front() / std::max(1e-300, sizes.back());
  trend.factor = std::pow(ratio, 1.0 / static_cast<double>(sizes.size() - 1));
  trend.finite = std::isfinite(trend.factor);
  return trend;
}

Finding gradient_flow(const GradientTrend& t) {
  const bool grows = t.factor > 1;
  Finding f;
  f.check = "gradient flow";
  f.what = !t.finite ? "gradients in the stream are not finite"
           : grows   ? "gradients explode on their way back through the layers"
                     : "gradients vanish on their way back through the layers";
  f.places = {t.first, t.last};
  f.evidence = {{"factor from one sub-layer to the one before it", t.factor, "about 1; Post-LN 0.5 to 1"}};
  f.cause = grows ? "sub-layers that enlarge what they get: no norm before them, or wide weights"
                  : "a stream that is made smaller in each layer: no direct path, or a factor on it";
  f.remedy = "residual connections around every sub-layer and a norm in each; Pre-LN keeps a path free of norms";
  return f;
}

}  // namespace

Findings check_gradient_flow(const Probe& probe, const ProbeBatch& batch) {
  if (probe.target_vocabulary > 0 && !batch.labels.defined()) return {};
  constexpr double far = 3;  // healthy stacks measured 0.6 to 1.2
  const GradientsApart apart(*probe.module);
  std::vector<std::vector<StreamGradient>> stacks;
  Tensor loss;
  {
    const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
      if (last_name(path) != "stream" || !needs_grad({value})) return;
      retain_grad(value);
      const bool is_new =
          stacks.empty() || stacks.back().back().path.substr(0, path.find('.')) != path.substr(0, path.find('.'));
      if (is_new) stacks.emplace_back();
      stacks.back().push_back({path, value});
    });
    loss = probe_loss(probe, batch);
  }
  backward(loss);
  Findings findings;
  for (const auto& streams : stacks) {
    const GradientTrend trend = trend_of(streams);
    if (trend.finite && trend.factor < far && trend.factor > 1 / far) continue;
    measure::add_place(findings, gradient_flow(trend));
  }
  return findings;
}

Findings check_finite(const Probe& probe, const ProbeBatch& batch) {
  const std::string operation = first_non_finite([&] { measure::logits_of(probe, batch); });
  if (operation.empty()) return {};
  Finding f;
  f.check = "not finite";
  f.what = "the forward pass gives NaN or an infinity";
  f.places = {operation};
  f.evidence = {{"first value that is not finite", std::numeric_limits<double>::quiet_NaN(), "none"}};
  f.cause = "weights that are not finite, log or division at 0, or an exponential that overflows";
  f.remedy = "look at the inputs of that operation; go back to a checkpoint from before";
  f.certainty = Certainty::certain;
  return {f};
}

}  // namespace glass
