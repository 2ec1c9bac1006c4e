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

// Of one head, means over its rows with two keys or more.
struct HeadEntropy {
  double ratio = 0;     // entropy / ln(keys)
  double expected = 0;  // 1 − σ²/(2 ln(keys)) for the scores' deviation σ in the row; below 0 where σ is large
  double rows = 0;
};

// One row of weights and scores, and which of its keys it sees: those that the mask allows, and any that get weight all
// the same.
struct AttentionRow {
  const double *weights, *scores;
  std::vector<Dim> seen;
};

double entropy_of(const AttentionRow& row) {
  double entropy = 0;
  for (const Dim key : row.seen) entropy -= row.weights[key] > 0 ? row.weights[key] * std::log(row.weights[key]) : 0;
  return entropy;
}

double variance_of(const AttentionRow& row) {
  std::vector<double> scores;
  for (const Dim key : row.seen) scores.push_back(row.scores[key]);
  const double deviation = measure::moments(scores).deviation;
  return deviation * deviation;
}

void add_row(HeadEntropy& head, const AttentionRow& row) {
  if (row.seen.size() < 2) return;
  const double most = std::log(static_cast<double>(row.seen.size()));
  head.ratio += entropy_of(row) / most;
  head.expected += 1 - variance_of(row) / (2 * most);
  head.rows += 1;
}

std::vector<HeadEntropy> head_entropies(const Tensor& weights, const Tensor& scores,
                                        const std::optional<AttentionMask>& mask) {
  const Dim heads = weights.size(1), queries = weights.size(2), keys = weights.size(3);
  const std::vector<double> shares = weights.to_vector(), values = scores.to_vector();
  std::vector<HeadEntropy> entropies(static_cast<size_t>(heads));
  for (Dim place = 0; place < weights.size(0) * heads * queries; ++place) {
    const Dim query = place % queries, head = place / queries % heads, batch = place / queries / heads;
    AttentionRow row{shares.data() + place * keys, values.data() + place * keys, {}};
    for (Dim key = 0; key < keys; ++key) {
      if (row.weights[key] > 0 || (mask && mask->may_attend(batch, head, query, key))) row.seen.push_back(key);
    }
    add_row(entropies[static_cast<size_t>(head)], row);
  }
  for (HeadEntropy& head : entropies) {
    head.ratio /= std::max(1.0, head.rows);
    head.expected /= std::max(1.0, head.rows);
  }
  return entropies;
}

// A fresh model whose inputs start small is near even, as its scores say it must be; a trained one should have moved.
bool is_even(const HeadEntropy& head, bool fresh) {
  if (head.rows == 0) return false;
  const double unevenness = 1 - head.ratio, expected = 1 - head.expected;
  return fresh ? unevenness < 0.1 * std::min(expected, 0.5) || expected < 1e-9 : unevenness < 1e-3;
}

bool is_one_hot(const HeadEntropy& head) { return head.rows > 0 && head.ratio < 0.05; }

Finding deadlocked(const std::string& path, bool even, const HeadEntropy& head) {
  Finding f;
  f.check = "deadlocked attention";
  f.what = even ? "every head spreads its weight evenly: attention is a mean over all keys"
                : "every head puts all its weight on one key: no gradient reaches the scores";
  f.places = {path};
  f.evidence = {
      {"entropy over ln(keys)", head.ratio,
       fmt::format("between 0.05 and 0.999; {:.4f} by the deviation of the scores", std::max(0.0, head.expected))}};
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
    const std::string path = parent_of(entry.path), scores = path.empty() ? "scores" : path + ".scores";
    if (last_name(entry.path) != "weights" || entry.value.rank() != 4 || entry.value.size(3) < 3) continue;
    if (!trace.has(scores)) continue;
    const auto mask = probe.mask_of ? probe.mask_of(path, batch) : std::optional<AttentionMask>();
    const std::vector<HeadEntropy> heads = head_entropies(entry.value, trace.at(scores), mask);
    const bool even = std::all_of(heads.begin(), heads.end(), [&](const auto& h) { return is_even(h, probe.fresh); });
    if (!even && !std::all_of(heads.begin(), heads.end(), is_one_hot)) continue;
    measure::add_place(findings, deadlocked(path, even, heads[0]));
  }
  return findings;
}

}  // namespace glass
