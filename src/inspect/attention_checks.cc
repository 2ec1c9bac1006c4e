#include "glassformer/inspect/attention_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of;

namespace {

// Two examples say as much as all, and q·k of a whole batch takes long.
Tensor few_examples(const Tensor& x) { return x.narrowed(0, 0, std::min<Dim>(2, x.size(0))); }

struct ScoreScale {
  double factor = 0;       // of the line scores = factor · q·k + constant
  double correlation = 0;  // of scores and q·k: 1 if nothing is added to them but a constant
  double mean = 0, deviation = 0;
  double expected_deviation = 0;  // rms(q)·rms(k)·√K·(1/√K)
};

ScoreScale measure_scale(const Tensor& query, const Tensor& key, const Tensor& scores) {
  const NoGrad values_only;
  const Tensor q = few_examples(query), k = few_examples(key);
  const std::vector<double> products = matmul(q, transpose(k, -2, -1)).to_vector();  // [B,H,T,S]
  const std::vector<double> values = few_examples(scores).to_vector();
  const measure::Moments of_products = measure::moments(products), of_scores = measure::moments(values);
  double covariance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    covariance += (products[i] - of_products.mean) * (values[i] - of_scores.mean) / static_cast<double>(values.size());
  }
  const double variance = of_products.deviation * of_products.deviation;
  return {covariance / std::max(variance, 1e-30),
          covariance / std::max(of_products.deviation * of_scores.deviation, 1e-30), of_scores.mean,
          of_scores.deviation, measure::rms(q) * measure::rms(k)};
}

Finding score_scale(const std::string& path, const ScoreScale& s, double wanted) {
  const bool large = s.factor > wanted;
  Finding f;
  f.check = "score scale";
  f.what = large ? "the scores are not divided by √K, so that the softmax sharpens as heads grow wider"
                 : "the scores are multiplied by less than 1/√K, so that the softmax stays near even weights";
  f.places = {path};
  f.evidence = {{"factor between q·k and the scores", s.factor, fmt::format("{:.4g}, 1/√K", wanted)},
                {"deviation of the scores", s.deviation,
                 fmt::format("{:.3g}, rms(q)·rms(k) (rule of thumb 0.5 to 1.0)", s.expected_deviation)},
                {"mean of the scores", s.mean, "near 0"}};
  f.cause = large ? "the factor 1/√K is missing" : "a factor that is applied twice, or 1/K";
  f.remedy = "multiply q·k by 1/√K, K = D/H (AttentionScale::inverse_sqrt, attention_scale = \"1/sqrt(k)\")";
  f.certainty = std::abs(s.correlation) > 0.99 || s.factor == 0 ? Certainty::certain : Certainty::likely;
  return f;
}

}  // namespace

Findings check_score_scale(const Probe& probe, const ProbeBatch& batch) {
  constexpr double far = 1.3;  // times 1/√K, or its inverse: rounding and position biases stay well within
  Findings findings;
  const Trace trace = measure::trace_of(probe, batch);
  for (const TraceEntry& entry : trace.entries()) {
    const std::string path = parent_of(entry.path), before = path.empty() ? "" : path + ".";
    if (last_name(entry.path) != "scores" || !trace.has(before + "query_heads") || !trace.has(before + "key_heads"))
      continue;
    const Tensor &query = trace.at(before + "query_heads"), &key = trace.at(before + "key_heads");
    const ScoreScale s = measure_scale(query, key, entry.value);
    const double wanted = 1 / std::sqrt(static_cast<double>(query.size(-1)));
    const bool lost = s.deviation < 1e-6 * s.expected_deviation;  // multiplied by 0
    if (s.correlation < 0.9 && !lost) continue;  // something else decides the scores: no line to measure
    if (s.factor < wanted * far && s.factor > wanted / far) continue;
    measure::add_place(findings, score_scale(path, s, wanted));
  }
  return findings;
}

// --- entropy

namespace {

// Mean over the rows with two keys or more of entropy / ln(keys), for one head.
struct HeadEntropy {
  double sum = 0, rows = 0;
  double ratio() const { return sum / std::max(1.0, rows); }
};

// Keys that the row sees: those that the declared mask allows, and any that get weight all the same.
Dim keys_of_row(const double* row, Dim keys, const std::optional<AttentionMask>& mask, Dim batch, Dim head, Dim query) {
  Dim count = 0;
  for (Dim key = 0; key < keys; ++key) count += row[key] > 0 || (mask && mask->may_attend(batch, head, query, key));
  return count;
}

double entropy_of(const double* row, Dim keys) {
  double entropy = 0;
  for (Dim key = 0; key < keys; ++key) entropy -= row[key] > 0 ? row[key] * std::log(row[key]) : 0;
  return entropy;
}

std::vector<HeadEntropy> head_entropies(const Tensor& weights, const std::optional<AttentionMask>& mask) {
  const Dim heads = weights.size(1), queries = weights.size(2), keys = weights.size(3);
  const std::vector<double> values = weights.to_vector();
  std::vector<HeadEntropy> entropies(static_cast<size_t>(heads));
  const double* row = values.data();
  for (Dim b = 0; b < weights.size(0); ++b) {
    for (Dim h = 0; h < heads; ++h) {
      for (Dim q = 0; q < queries; ++q, row += keys) {
        const Dim seen = keys_of_row(row, keys, mask, b, h, q);
        if (seen < 2) continue;
        HeadEntropy& head = entropies[static_cast<size_t>(h)];
        head.sum += entropy_of(row, keys) / std::log(static_cast<double>(seen));
        head.rows += 1;
      }
    }
  }
  return entropies;
}

Finding deadlocked(const std::string& path, bool even, double ratio, double deviation) {
  Finding f;
  f.check = "deadlocked attention";
  f.what = even ? "every head spreads its weight evenly: attention is a mean over all keys"
                : "every head puts all its weight on one key: no gradient reaches the scores";
  f.places = {path};
  f.evidence = {{"entropy over ln(keys), mean of the heads", ratio,
                 even ? "under 0.999: 1 − σ²/(2 ln n) for scores of deviation σ" : "above 0.05"},
                {"deviation of the scores", deviation, "rule of thumb 0.5 to 1.0 in a fresh model"}};
  f.cause = even ? "queries or keys that are zero or far too small, or one input for all positions"
                 : "scores that are far too large: wide weights, no norm before attention, or a sharpened softmax";
  f.remedy = even ? "look at the initial values of query and key, and at what attention receives"
                  : "normalise what attention receives, scale by 1/√K, lower the rate or lengthen the warm-up";
  return f;
}

}  // namespace

Findings check_deadlock(const Probe& probe, const ProbeBatch& batch) {
  Findings findings;
  const Trace trace = measure::trace_of(probe, batch);
  for (const TraceEntry& entry : trace.entries()) {
    if (last_name(entry.path) != "weights" || entry.value.rank() != 4 || entry.value.size(3) < 3) continue;
    const std::string path = parent_of(entry.path), scores = path.empty() ? "scores" : path + ".scores";
    const auto entropies =
        head_entropies(entry.value, probe.mask_of ? probe.mask_of(path, batch) : std::optional<AttentionMask>());
    const auto by_ratio = [](const HeadEntropy& a, const HeadEntropy& b) { return a.ratio() < b.ratio(); };
    const auto [low, high] = std::minmax_element(entropies.begin(), entropies.end(), by_ratio);
    const bool even = low->ratio() > 0.999, one_hot = high->ratio() < 0.05 && high->rows > 0;
    if (!even && !one_hot) continue;
    const double deviation = trace.has(scores) ? measure::moments(trace.at(scores).to_vector()).deviation : 0;
    measure::add_place(findings, deadlocked(path, even, (low->ratio() + high->ratio()) / 2, deviation));
  }
  return findings;
}

}  // namespace glass
