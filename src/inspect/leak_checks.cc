// Future leaks, and what else mixes positions.
#include "glassformer/inspect/mask_checks.h"
#include "inspect/measure.h"
#include "inspect/mixing.h"

namespace glass {

using measure::last_name, measure::parent_of, measure::rows, measure::source_length, measure::target_length;

namespace {

Finding future_leak(const std::string& place, Dim position, double difference) {
  Finding f;
  f.check = "future leak";
  f.what = "a later token changes earlier outputs: in training the model reads the answer, in use there is none";
  if (!place.empty()) f.places = {place};
  f.evidence = {{"position changed", static_cast<double>(position), "any"},
                {"relative change of the outputs before it", difference, "0, bit for bit"}};
  f.cause = "the decoder's self-attention has no causal mask, or one that is not applied to the scores";
  f.remedy = "pass AttentionMask::causal() (combined with others by &), and mask the scores before the softmax";
  f.certainty = Certainty::certain;
  return f;
}

Finding heads_split(const Mixing& m) {
  const bool merged = last_name(m.path) == "contribution" || last_name(m.path) == "stream";
  Finding f;
  f.check = "heads split";
  f.what = merged ? "heads are put side by side without a transpose, so that one row holds several positions"
                  : "heads are split without a transpose, so that a head's rows hold other positions' columns";
  f.places = {merged ? parent_of(m.before) : parent_of(m.path)};
  f.evidence = {{"elements that one changed token moves outside of its own row", static_cast<double>(m.changed), "0"}};
  f.cause = "a reshape straight from [B,T,D] to [B,H,T,K], or back";
  f.remedy = "reshape to [B,T,H,K] and transpose the middle axes; back the same way (split_heads, merge_heads)";
  f.certainty = Certainty::certain;
  return f;
}

Finding positions_mixed(const Mixing& m) {
  Finding f;
  f.check = "norm axes";
  f.what = "positions are mixed outside of attention: one token changes all rows";
  f.places = {m.path};
  f.evidence = {{"elements that one changed token moves", static_cast<double>(m.changed),
                 "at most " + std::to_string(m.columns) + ", its own row"}};
  f.cause = "a norm that takes its mean and deviation over positions, not over the D columns of each token";
  f.remedy = "normalise over the last axis alone, for each token by itself (LayerNorm)";
  f.certainty = Certainty::likely;
  return f;
}

// Only a split or merge moves as many elements as one row has; a norm over positions moves all.
bool is_heads_fault(const Mixing& m) {
  const std::string name = last_name(m.path);
  if (name.ends_with("_heads")) return m.changed <= m.columns;
  return (name == "contribution" || name == "stream") && last_name(m.before) == "context";
}

bool is_inside_attention(const Mixing& m) {
  const std::string name = last_name(m.path);
  return name == "weights" || name == "context";
}

Finding cause_of_leak(const Probe& probe, const ProbeBatch& batch, const ProbeBatch& other, Dim position,
                      double difference) {
  const auto mixing = first_mixing(probe, batch, other, {target_length, position, true});
  if (!mixing) return future_leak({}, position, difference);
  if (is_heads_fault(*mixing)) return heads_split(*mixing);
  if (is_inside_attention(*mixing)) return future_leak(parent_of(mixing->path), position, difference);
  return positions_mixed(*mixing);
}

}  // namespace

Findings check_future(const Probe& probe) {
  const ProbeBatch batch = random_batch(probe, rows, source_length, target_length);
  const Tensor logits = measure::logits_of(probe, batch);  // [B,T,V]
  for (const Dim position : {target_length - 1, target_length / 2, Dim{1}}) {
    const ProbeBatch other =
        measure::with_target(batch, measure::with_changed(batch.target, -1, position, probe.target_vocabulary));
    const Tensor changed = measure::logits_of(probe, other);
    const Tensor before = logits.narrowed(1, 0, position), after = changed.narrowed(1, 0, position);
    if (measure::same_bits(before, after)) continue;
    return {cause_of_leak(probe, batch, other, position, measure::relative_difference(before, after))};
  }
  return {};
}

Findings check_source_rows(const Probe& probe) {
  if (!probe.reads_source) return {};
  const ProbeBatch batch = measure::unpadded_batch(probe, 1, source_length, target_length);
  const Dim position = source_length / 2;
  const ProbeBatch other =
      measure::with_source(batch, measure::with_changed(batch.source, 0, position, probe.source_vocabulary));
  const auto mixing = first_mixing(probe, batch, other, {source_length, position, false});
  // Attention mixes from its weights on: only what comes before them must not.
  if (!mixing || !last_name(mixing->path).ends_with("_heads")) return {};
  const std::string before = last_name(mixing->before);
  if (!before.empty() && !before.ends_with("_heads") && !before.ends_with("_input")) return {};
  return {is_heads_fault(*mixing) ? heads_split(*mixing) : positions_mixed(*mixing)};
}

}  // namespace glass
