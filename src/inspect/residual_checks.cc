#include "glassformer/inspect/residual_checks.h"

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of;

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
    if (measure::rms(s.base) == 0) {
      measure::add_place(findings, missing_residual(s));
      continue;
    }
    const bool comparable = s.before.defined() && s.before.shape() == s.base.shape();
    if (!probe.norm || !comparable || (is_first && *probe.norm == NormScheme::post)) continue;
    if (const auto found = judge(s, *probe.norm, probe.fresh)) measure::add_place(findings, *found);
  }
  return findings;
}

// --- the direct path

namespace {

// While it lives, what sub-layers multiply by is zero.
class SubLayersSilenced {
 public:
  explicit SubLayersSilenced(const Probe& probe) {
    for (const NamedParameter& p : measure::distinct_parameters(*probe.module)) {
      const Dim classes = probe.target_vocabulary;
      const bool is_inner = p.tensor.rank() == 2 && p.tensor.size(0) != classes && p.initial != Initial::embedding;
      if (!is_inner) continue;
      matrices_.push_back(p.tensor);
      values_.push_back(p.tensor.clone());
      matrices_.back().fill(0);
    }
  }
  ~SubLayersSilenced() {
    for (size_t i = 0; i < matrices_.size(); ++i) matrices_[i].copy_from(values_[i]);
  }
  SubLayersSilenced(const SubLayersSilenced&) = delete;
  SubLayersSilenced& operator=(const SubLayersSilenced&) = delete;

 private:
  Tensors matrices_, values_;
};

}  // namespace

Findings check_direct_path(const Probe& probe) {
  if (probe.target_vocabulary == 0) return {};  // its first and last matrices cannot be told from the others
  const ProbeBatch batch =
      measure::unpadded_batch(probe, measure::rows, measure::source_length, measure::target_length);
  const ProbeBatch other =
      measure::with_target(batch, measure::with_changed(batch.target, 0, 0, probe.target_vocabulary));
  const SubLayersSilenced silenced(probe);
  const auto first_row = [&](const ProbeBatch& b) {
    return measure::logits_of(probe, b).narrowed(0, 0, 1).narrowed(1, 0, 1);
  };
  const double change = measure::relative_difference(first_row(batch), first_row(other));
  if (change > 1e-6) return {};
  Finding f;
  f.check = "residual";
  f.what = "what is read reaches the output only through the sub-layers: some residual connection is missing";
  f.evidence = {{"change of the output by its own input, with all sub-layers silenced", change, "above 0"}};
  f.cause = "f(x) where x + f(x) was meant, in one sub-layer or all";
  f.remedy = "add each sub-layer's output to its input (Residual)";
  f.certainty = Certainty::likely;
  return {f};
}

}  // namespace glass
