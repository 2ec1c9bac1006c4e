#include "glassformer/inspect/head_checks.h"

#include <algorithm>
#include <cmath>

#include "inspect/columns_silenced.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of;

namespace {

std::string head_name(const std::string& path, Dim head) { return path + " head " + std::to_string(head); }

// [B,T,S] of one head
std::vector<double> weights_of_head(const Tensor& weights, Dim head) {
  return weights.narrowed(1, head, head + 1).to_vector();
}

Finding note(const char* check, const char* what, const std::string& place, Evidence evidence, const char* cause,
             const char* remedy) {
  Finding f;
  f.check = check;
  f.what = what;
  f.places = {place};
  f.evidence = {std::move(evidence)};
  f.cause = cause;
  f.remedy = remedy;
  f.severity = Severity::note;
  return f;
}

// --- parked

// The largest share that one position gets, of all that the head gives.
double parked_share(const std::vector<double>& weights, Dim keys) {
  std::vector<double> shares(static_cast<size_t>(keys));
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    shares[i % static_cast<size_t>(keys)] += weights[i];
    total += weights[i];
  }
  return total == 0 ? 0 : *std::max_element(shares.begin(), shares.end()) / total;
}

void find_parked(const std::string& path, const Tensor& weights, Findings& findings) {
  if (weights.size(2) < 3 || weights.size(3) < 3) return;
  for (Dim head = 0; head < weights.size(1); ++head) {
    const double share = parked_share(weights_of_head(weights, head), weights.size(3));
    if (share < 0.9) continue;
    measure::add_place(findings,
                       note("parked heads", "a head that looks at one position from everywhere", head_name(path, head),
                            {"share of the weight on one position", share, "under 0.9"},
                            "it has nothing to say here and rests on a token without meaning, often the first or last",
                            "nothing, or fewer heads; look at it on other sentences"));
  }
}

// --- redundant

// Half the sum of differences, mean over the rows: 0 for equal heads, 1 for disjoint ones.
double distance(const std::vector<double>& a, const std::vector<double>& b, double rows) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]) / 2;
  return sum / rows;
}

void find_redundant(const std::string& path, const Tensor& weights, Findings& findings) {
  const double rows = static_cast<double>(weights.size(0) * weights.size(2));
  for (Dim a = 0; a < weights.size(1); ++a) {
    for (Dim b = a + 1; b < weights.size(1); ++b) {
      const double apart = distance(weights_of_head(weights, a), weights_of_head(weights, b), rows);
      if (apart > 0.02) continue;
      measure::add_place(findings, note("redundant heads", "two heads that look at the same places",
                                        head_name(path, a) + " and " + std::to_string(b),
                                        {"mass that differs between them", apart, "above 0.02"},
                                        "more heads than this attention has use for",
                                        "nothing, or fewer heads; twins from the start if it is a fresh model"));
    }
  }
}

// --- dead

Tensor output_matrix(const Probe& probe, const std::string& path) {
  for (const NamedParameter& p : probe.module->named_parameters()) {
    if (p.name == path + ".output.weight" && p.tensor.rank() == 2) return p.tensor;
  }
  return {};
}

void find_dead(const Probe& probe, const ProbeBatch& batch, const std::string& path, Dim heads, const Tensor& logits,
               Findings& findings) {
  const Tensor matrix = output_matrix(probe, path);
  if (!matrix.defined() || matrix.size(1) % heads != 0) return;
  const Dim width = matrix.size(1) / heads;
  for (Dim head = 0; head < heads; ++head) {
    const ColumnsSilenced silenced(matrix, head * width, (head + 1) * width);
    const double change = measure::relative_difference(logits, measure::logits_of(probe, batch));
    if (change > measure::rounding) continue;
    measure::add_place(findings,
                       note("dead heads", "a head whose removal changes nothing", head_name(path, head),
                            {"relative change of the logits without it", change, "above 1e-4"},
                            "its part of the output matrix, or its values, are near zero", "nothing, or fewer heads"));
  }
}

// A few rows: each head costs a forward pass.
ProbeBatch first_rows(const ProbeBatch& batch, Dim count) {
  const auto rows = [&](const Tensor& x) {
    return x.defined() ? x.narrowed(0, 0, std::min(count, x.size(0))).contiguous() : x;
  };
  return {rows(batch.source), rows(batch.source_lengths), rows(batch.target), rows(batch.labels)};
}

}  // namespace

Findings check_heads(const Probe& probe, const ProbeBatch& whole) {
  const ProbeBatch batch = first_rows(whole, 4);
  Findings findings;
  const Trace trace = measure::trace_of(probe, batch);
  const Tensor logits = measure::logits_of(probe, batch);
  for (const TraceEntry& entry : trace.entries()) {
    if (last_name(entry.path) != "weights" || entry.value.rank() != 4) continue;
    const std::string path = parent_of(entry.path);
    find_dead(probe, batch, path, entry.value.size(1), logits, findings);
    find_parked(path, entry.value, findings);
    find_redundant(path, entry.value, findings);
  }
  return findings;
}

}  // namespace glass
