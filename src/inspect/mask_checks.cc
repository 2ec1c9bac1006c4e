// Padding, the direction of masks, and examples that should not know of each other.
#include "glassformer/inspect/mask_checks.h"

#include <algorithm>

#include "glassformer/autograd/ops.h"
#include "inspect/measure.h"

namespace glass {

using measure::last_name, measure::parent_of, measure::rows, measure::source_length, measure::target_length;

namespace {

Tensor more_padding(const Probe& probe, const Tensor& source) {
  const Dim columns = 3;
  Shape shape = source.shape();
  shape[1] = columns;
  const double filler = probe.source_vocabulary > 0 ? static_cast<double>(probe.source_vocabulary - 1) : 7;
  return concat({source, Tensor::full(shape, filler, source.dtype())}, 1);
}

Tensor other_padding(const Probe& probe, const ProbeBatch& batch) {
  Tensor source = batch.source.clone();
  const double filler = probe.source_vocabulary > 0 ? static_cast<double>(probe.source_vocabulary - 1) : 7;
  for (Dim b = 0; b < source.size(0); ++b) {
    const auto real = static_cast<Dim>(batch.source_lengths.at({b}));
    if (real < source.size(1)) source.narrowed(0, b, b + 1).narrowed(1, real, source.size(1)).fill(filler);
  }
  return source;
}

// Share of the mass that rows with both kinds of keys put on those they should not see.
double forbidden_share(const Tensor& weights, const AttentionMask& mask) {
  const Dim queries = weights.size(2), keys = weights.size(3);
  const std::vector<double> values = weights.to_vector();
  double forbidden = 0, total = 0;
  for (size_t row = 0; row < values.size() / static_cast<size_t>(keys); ++row) {
    const auto place = static_cast<Dim>(row);
    const Dim batch = place / queries / weights.size(1), head = place / queries % weights.size(1);
    double bad = 0, all = 0;
    Dim allowed = 0;
    for (Dim key = 0; key < keys; ++key) {
      const double value = values[row * static_cast<size_t>(keys) + static_cast<size_t>(key)];
      const bool may = mask.may_attend(batch, head, place % queries, key);
      allowed += may;
      all += value;
      bad += may ? 0 : value;
    }
    if (allowed == 0 || allowed == keys) continue;
    forbidden += bad;
    total += all;
  }
  return total == 0 ? 0 : forbidden / total;
}

struct MaskShare {
  std::string path;
  double share = 0;
};

// Each attention with a declared mask, in order.
std::vector<MaskShare> forbidden_shares(const Probe& probe, const ProbeBatch& batch) {
  std::vector<MaskShare> shares;
  if (!probe.mask_of) return shares;
  const Trace trace = measure::trace_of(probe, batch);
  for (const TraceEntry& entry : trace.entries()) {
    if (last_name(entry.path) != "weights" || entry.value.rank() != 4) continue;
    const auto mask = probe.mask_of(parent_of(entry.path), batch);
    if (mask) shares.push_back({parent_of(entry.path), forbidden_share(entry.value, *mask)});
  }
  return shares;
}

Finding padding_leak(const Probe& probe, const ProbeBatch& batch, const char* changed, double difference,
                     const char* healthy) {
  Finding f;
  f.check = "padding leak";
  f.what = std::string("the ") + changed + " of the padding changes the outputs, so a sentence's result depends on " +
           "what it is batched with";
  for (const MaskShare& m : forbidden_shares(probe, batch)) {
    if (m.share > 1e-6) f.places.push_back(m.path);
  }
  f.evidence = {{"relative change of the outputs", difference, healthy}};
  f.cause = "attention to the source without the mask of its lengths";
  f.remedy = "pass AttentionMask::lengths(source_lengths) to the encoder and to cross-attention";
  f.certainty = Certainty::certain;
  return f;
}

}  // namespace

Findings check_padding(const Probe& probe) {
  if (!probe.reads_source || !probe.pads_source) return {};
  const ProbeBatch batch = random_batch(probe, rows, source_length, target_length);
  const Tensor logits = measure::logits_of(probe, batch);
  const Tensor content = measure::logits_of(probe, measure::with_source(batch, other_padding(probe, batch)));
  if (!measure::same_bits(logits, content)) {
    return {padding_leak(probe, batch, "content", measure::relative_difference(logits, content), "0, bit for bit")};
  }
  const Tensor amount = measure::logits_of(probe, measure::with_source(batch, more_padding(probe, batch.source)));
  const double difference = measure::relative_difference(logits, amount);
  if (difference < measure::rounding) return {};
  return {padding_leak(probe, batch, "amount", difference, "under 1e-4, rounding")};
}

Findings check_mask_direction(const Probe& probe) {
  Findings findings;
  for (const MaskShare& m : forbidden_shares(probe, random_batch(probe, rows, source_length, target_length))) {
    if (m.share < 0.99) continue;
    Finding f;
    f.check = "mask reversed";
    f.what = "attention looks at exactly the keys that its mask forbids";
    f.places = {m.path};
    f.evidence = {{"share of the weight on forbidden keys", m.share, "0"}};
    f.cause = "a mask of the other polarity: true for \"hide\" where true means \"may attend\"";
    f.remedy = "negate the mask where it is made; in AttentionMask true always means may attend";
    f.certainty = Certainty::certain;
    measure::add_place(findings, f);
  }
  return findings;
}

// --- examples of one batch

namespace {

// The largest relative change of the examples other than `changed`.
double change_of_others(const Tensor& a, const Tensor& b, Dim changed) {
  double worst = 0;
  for (Dim example = 0; example < a.size(0); ++example) {
    if (example == changed) continue;
    worst = std::max(
        worst, measure::relative_difference(a.narrowed(0, example, example + 1), b.narrowed(0, example, example + 1)));
  }
  return worst;
}

Finding examples_mix(double difference) {
  Finding f;
  f.check = "examples mix";
  f.what = "the content of one example changes the outputs of others in its batch";
  f.evidence = {{"relative change of the other examples", difference, "0"}};
  f.cause = "a norm, mean or reshape that runs over the batch axis";
  f.remedy = "look for the operation that treats axis 0 as anything but the example; LayerNorm is over D alone";
  f.certainty = Certainty::certain;
  return f;
}

Finding mask_broadcast(double difference) {
  Finding f;
  f.check = "mask broadcast";
  f.what = "the length of one example decides what others see; with B = T nothing else shows it";
  f.evidence = {{"relative change of the other examples", difference, "0"}};
  f.cause = "a mask [B,S] that meets scores [B,H,T,S] as [T,S]: broadcasting aligns at the end";
  f.remedy = "give the mask its axes, [B,1,1,S], or pass AttentionMask::lengths(lengths), which is by example";
  f.certainty = Certainty::certain;
  return f;
}

}  // namespace

Findings check_examples_apart(const Probe& probe) {
  constexpr Dim same = 6, changed = 2;  // B = T = S
  const ProbeBatch batch = measure::unpadded_batch(probe, same, same, same);
  const bool has_lengths = batch.source_lengths.defined();
  const Tensor logits = measure::logits_of(probe, batch);
  ProbeBatch other =
      measure::with_target(batch, measure::with_changed(batch.target, changed, 0, probe.target_vocabulary));
  if (probe.reads_source) other.source = measure::with_changed(batch.source, changed, 1, probe.source_vocabulary);
  const double content = change_of_others(logits, measure::logits_of(probe, other), changed);
  if (content > measure::rounding) return {examples_mix(content)};
  if (!has_lengths) return {};
  ProbeBatch shorter = batch;
  shorter.source_lengths = batch.source_lengths.clone();
  shorter.source_lengths.data<int32_t>()[changed] = same / 2;
  const double length = change_of_others(logits, measure::logits_of(probe, shorter), changed);
  if (length > measure::rounding) return {mask_broadcast(length)};
  return {};
}

}  // namespace glass
