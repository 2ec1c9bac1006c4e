// The order of tokens: positions, and labels one step after the input.
#include <algorithm>

#include "glassformer/inspect/mask_checks.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of, measure::source_length, measure::target_length;

namespace {

Finding no_positions(const char* side, double difference) {
  Finding f;
  f.check = "no positions";
  f.what = std::string("the ") + side + " gives the same result for another order of its input: a bag of tokens";
  f.places = {side};
  f.evidence = {{"relative change by another order", difference, "well above 1e-4"}};
  f.cause = "positions are not added to the embeddings (nor to queries and keys, nor to the scores)";
  f.remedy = "add a position scheme: positions->embed(embedding(ids), 0)";
  f.certainty = Certainty::certain;
  return f;
}

std::vector<int64_t> reversed_order(Dim count) {
  std::vector<int64_t> order;
  for (Dim i = count - 1; i >= 0; --i) order.push_back(i);
  return order;
}

// What the last query gets from the first self-attention of the target's side; undefined without a tap. Later layers
// know the order a little from the causal mask alone.
Tensor last_context(const Trace& trace) {
  const TraceEntry* weights = nullptr;
  for (const TraceEntry& entry : trace.entries()) {
    const bool on_target = entry.value.rank() == 4 && entry.value.size(2) == target_length;
    if (weights == nullptr && on_target && last_name(entry.path) == "weights" && entry.value.size(3) == target_length)
      weights = &entry;
    if (weights != nullptr && on_target && entry.path == parent_of(weights->path) + ".context")
      return entry.value.narrowed(2, target_length - 1, target_length);
  }
  return {};
}

double change_by_target_order(const Probe& probe, const ProbeBatch& batch) {
  const ProbeBatch other =
      measure::with_target(batch, measure::reordered(batch.target, reversed_order(target_length - 1)));
  const Tensor a = last_context(measure::trace_of(probe, batch)), b = last_context(measure::trace_of(probe, other));
  if (a.defined() && b.defined()) return measure::relative_difference(a, b);
  const Tensor x = measure::logits_of(probe, batch), y = measure::logits_of(probe, other);
  return measure::relative_difference(x.narrowed(1, target_length - 1, target_length),
                                      y.narrowed(1, target_length - 1, target_length));
}

}  // namespace

Findings check_positions(const Probe& probe) {
  Findings findings;
  const ProbeBatch batch = measure::unpadded_batch(probe, 2, source_length, target_length);
  if (probe.reads_source) {
    const Tensor reversed = measure::reordered(batch.source, reversed_order(source_length));
    const double difference = measure::relative_difference(
        measure::logits_of(probe, batch), measure::logits_of(probe, measure::with_source(batch, reversed)));
    if (difference < measure::rounding) measure::add_place(findings, no_positions("encoder", difference));
  }
  const double difference = change_by_target_order(probe, batch);
  if (difference < measure::rounding) measure::add_place(findings, no_positions("decoder", difference));
  return findings;
}

// --- targets

namespace {

struct Shift {
  double same = 0, next = 0;  // share of labels that equal the input at their place, at the next
};

Shift shift_of(const ProbeBatch& batch) {
  const Tensor &input = batch.target, &labels = batch.labels;
  double same = 0, next = 0, counted = 0, counted_next = 0;
  for (Dim b = 0; b < labels.size(0); ++b) {
    for (Dim t = 0; t < labels.size(1); ++t) {
      const double label = labels.at({b, t});
      if (label == pad_token) continue;
      ++counted;
      same += label == input.at({b, t});
      if (t + 1 == labels.size(1) || labels.at({b, t + 1}) == pad_token) continue;
      ++counted_next;
      next += label == input.at({b, t + 1});
    }
  }
  return {same / std::max(1.0, counted), next / std::max(1.0, counted_next)};
}

Finding unshifted(const char* what, Evidence evidence, Certainty certainty) {
  Finding f;
  f.check = "targets unshifted";
  f.what = what;
  f.evidence = {std::move(evidence)};
  f.cause = "the decoder is given the labels themselves: it learns to repeat its input, and says nothing in use";
  f.remedy = "decoder input BOS + y, labels y + EOS (make_batch does so)";
  f.certainty = certainty;
  return f;
}

// Share of places where the likeliest token is the one just read. Random tokens, so that no sentence explains it.
double copied_share(const Probe& probe) {
  const ProbeBatch batch = random_batch(probe, 4, source_length, target_length, 2);
  const Tensor logits = measure::logits_of(probe, batch);  // [B,T,V]
  const std::vector<double> scores = logits.to_vector(), read = batch.target.to_vector();
  const auto classes = static_cast<size_t>(logits.size(-1));
  double copied = 0;
  for (size_t row = 0; row < read.size(); ++row) {
    const auto first = scores.begin() + static_cast<std::ptrdiff_t>(row * classes);
    copied += std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first ==
              static_cast<std::ptrdiff_t>(read[row]);
  }
  return copied / static_cast<double>(read.size());
}

// Whether a parameter has two names, as where the output is tied to the embedding.
bool shares_a_matrix(const Module& module) {
  return measure::distinct_parameters(module).size() < module.named_parameters().size();
}

}  // namespace

Findings check_targets(const Probe& probe, const ProbeBatch& batch) {
  if (probe.target_vocabulary == 0) return {};
  if (batch.labels.defined()) {
    const Shift shift = shift_of(batch);
    if (shift.same > 0.9 && shift.next < 0.5) {
      return {unshifted("the labels are the decoder's input at the same place, not at the next",
                        {"share of labels equal to the input at their place", shift.same, "near 0"},
                        Certainty::certain)};
    }
  }
  // A fresh model with tied embeddings says what it reads, by its residual stream alone.
  const double copied = probe.fresh ? 0 : copied_share(probe);
  if (copied < 0.5) return {};
  Finding f = unshifted("the trained model says the token that it has just read",
                        {"share of random tokens repeated", copied, "near 0"}, Certainty::likely);
  if (shares_a_matrix(*probe.module)) {
    f.severity = Severity::note;
    f.certainty = Certainty::possible;
    f.cause += "; or it has learned little yet, and the matrix that its output shares with its embedding repeats";
  }
  return {f};
}

}  // namespace glass
