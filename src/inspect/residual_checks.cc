#include "glassformer/inspect/residual_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "inspect/gradients.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of;

// --- embeddings

namespace {

// The rows of the table that `input` came from; undefined unless one of the parameters is such a table.
Tensor table_rows(const Probe& probe, const ProbeBatch& batch, const Tensor& input) {
  for (const auto& [ids, vocabulary] :
       {std::pair{batch.source, probe.source_vocabulary}, std::pair{batch.target, probe.target_vocabulary}}) {
    if (!ids.defined() || vocabulary == 0 || ids.size(1) != input.size(1)) continue;
    for (const NamedParameter& p : measure::distinct_parameters(*probe.module)) {
      if (p.tensor.shape() == Shape{vocabulary, input.size(2)} && p.initial == Initial::embedding)
        return embedding(p.tensor, ids);
    }
  }
  return {};
}

struct EmbeddingSize {
  double embedding = 0, position = 0;
  double factor = 0;  // over the rows of the table; 0 if there is none
};

EmbeddingSize embedding_size(const Probe& probe, const ProbeBatch& batch, const Tensor& input, const Tensor& encoding) {
  const NoGrad values_only;
  const Tensor added = sub(input, encoding), rows = table_rows(probe, batch, input);
  const double size = measure::rms(added);
  return {size, measure::rms(encoding), rows.defined() ? size / std::max(1e-30, measure::rms(rows)) : 0};
}

Finding embedding_scale(const std::string& path, const EmbeddingSize& s, double root) {
  Finding f;
  f.check = "embedding scale";
  f.what = "the positions drown the tokens: embeddings are added to encodings several times their size";
  f.places = {path};
  f.evidence = {{"size of the embedding over that of the position", s.embedding / s.position, "comparable, above 0.5"},
                {"factor on the rows of the table", s.factor, fmt::format("{:.3g}, √D", root)}};
  f.cause = "the embedding is not multiplied by √D (Vaswani et al., 2017, section 3.4)";
  f.remedy = "multiply the looked-up rows by √D, or start the table with deviation 1";
  return f;
}

}  // namespace

Findings check_embedding_scale(const Probe& probe, const ProbeBatch& batch) {
  Findings findings;
  if (probe.target_vocabulary == 0) return findings;
  const Trace trace = measure::trace_of(probe, batch);
  for (size_t i = 1; i < trace.entries().size(); ++i) {
    const TraceEntry &encoding = trace.entries()[i - 1], &input = trace.entries()[i];
    if (last_name(encoding.path) != "encoding" || !input.path.ends_with("_input")) continue;
    const EmbeddingSize s = embedding_size(probe, batch, input.value, encoding.value);
    const double root = std::sqrt(static_cast<double>(input.value.size(-1)));
    // A table that starts narrow by its scheme but is multiplied by √D is as intended.
    if (s.embedding > 0.5 * s.position || s.factor > 0.5 * root) continue;
    measure::add_place(findings, embedding_scale(input.path, s, root));
  }
  return findings;
}

// --- residual connections

namespace {

// One sub-layer: base + contribution = stream, and what the stream was before.
struct SubLayer {
  std::string path;
  Tensor base, contribution, before;  // [B,T,D]
};

std::vector<SubLayer> sub_layers(const Trace& trace) {
  const NoGrad values_only;
  std::vector<SubLayer> found;
  Tensor before, contribution;
  for (const TraceEntry& entry : trace.entries()) {
    const std::string name = last_name(entry.path);
    if (name == "contribution") contribution = entry.value;
    if (name == "stream" && contribution.defined()) {
      found.push_back({parent_of(entry.path), sub(entry.value, contribution), contribution, before});
      contribution = {};
    }
    if (name == "stream" || name.ends_with("_input")) before = entry.value;
  }
  return found;
}

// Of each token's D columns, the farthest from mean 0 and deviation 1.
struct TokenStatistics {
  double worst_mean = 0, worst_deviation = 0;  // |mean|, |deviation − 1|
  bool normalised() const { return worst_mean < 0.01 && worst_deviation < 0.01; }
};

TokenStatistics token_statistics(const Tensor& x) {
  const auto width = static_cast<size_t>(x.size(-1));
  const std::vector<double> values = x.to_vector();
  TokenStatistics worst;
  for (size_t first = 0; first < values.size(); first += width) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const measure::Moments m = measure::moments({begin, begin + static_cast<std::ptrdiff_t>(width)});
    worst.worst_mean = std::max(worst.worst_mean, std::abs(m.mean));
    worst.worst_deviation = std::max(worst.worst_deviation, std::abs(m.deviation - 1));
  }
  return worst;
}

Finding missing_residual(const SubLayer& s) {
  Finding f;
  f.check = "residual";
  f.what = "a sub-layer replaces the stream where it should add to it: no direct path from input to output";
  f.places = {s.path};
  f.evidence = {{"size of what the sub-layer was added to, over its own",
                 measure::rms(s.base) / std::max(1e-30, measure::rms(s.contribution)), "above 0, about 1"}};
  f.cause = "f(x) where x + f(x) was meant";
  f.remedy = "add the sub-layer's output to its input (Residual)";
  f.certainty = Certainty::certain;
  return f;
}

Finding norm_place(const SubLayer& s, const char* what, double change, const char* healthy) {
  Finding f;
  f.check = "norm place";
  f.what = what;
  f.places = {s.path};
  f.evidence = {{"change of the stream between two sub-layers, relative", change, healthy}};
  f.cause = "LN(x + f(x)), LN(x) + f(LN(x)) or x + LN(f(x)) where another of them was meant; tutorials mix them up";
  f.remedy = "Pre-LN is x + f(LN(x)), Post-LN is LN(x + f(x)) (NormScheme); or declare what it is";
  f.certainty = Certainty::certain;
  return f;
}

Finding norm_axes(const SubLayer& s, const TokenStatistics& t) {
  Finding f;
  f.check = "norm axes";
  f.what = "what the norm gives has not mean 0 and deviation 1 for each token";
  f.places = {s.path};
  f.evidence = {{"farthest mean of a token", t.worst_mean, "0"},
                {"farthest deviation of a token from 1", t.worst_deviation, "0"}};
  f.cause = "a norm over other axes than the D columns of each token";
  f.remedy = "normalise over the last axis alone (LayerNorm)";
  return f;
}

// What the declared scheme makes of one sub-layer; nothing if all is well.
std::optional<Finding> judge(const SubLayer& s, NormScheme declared, bool fresh) {
  const double change = measure::relative_difference(s.before, s.base);
  const bool direct = change < measure::rounding;
  if (declared == NormScheme::pre && !direct)
    return norm_place(s, "declared Pre-LN, but the stream itself is normalised between sub-layers", change, "0");
  if (declared == NormScheme::post && direct)
    return norm_place(s, "declared Post-LN, but the stream passes on without a norm", change, "above 0: a norm");
  if (!fresh) return {};
  if (declared == NormScheme::pre && token_statistics(s.contribution).normalised())
    return norm_place(s, "declared Pre-LN, but the sub-layer's output is normalised", change, "0, and f(LN(x)) added");
  const TokenStatistics t = token_statistics(s.base);
  if (declared == NormScheme::post && !t.normalised()) return norm_axes(s, t);
  return {};
}

}  // namespace

Findings check_residuals(const Probe& probe, const ProbeBatch& batch) {
  Findings findings;
  std::string stack;
  for (const SubLayer& s : sub_layers(measure::trace_of(probe, batch))) {
    const std::string here = s.path.substr(0, s.path.find('.'));
    const bool is_first = here != stack;  // of its stack: it reads the embeddings, which no norm has seen
    stack = here;
    if (measure::rms(s.base) < 1e-3 * measure::rms(s.contribution)) {
      measure::add_place(findings, missing_residual(s));
      continue;
    }
    const bool comparable = s.before.defined() && s.before.shape() == s.base.shape();
    if (!probe.norm || !comparable || (is_first && *probe.norm == NormScheme::post)) continue;
    if (const auto found = judge(s, *probe.norm, probe.fresh)) measure::add_place(findings, *found);
  }
  return findings;
}

// --- gradients along the stream

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

}  // namespace glass
