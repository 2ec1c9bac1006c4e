#include "inspect/intervention.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/random.h"
#include "inspect/columns_silenced.h"
#include "inspect/logit_rows.h"

namespace glass {

namespace {

std::vector<int32_t> greedy(const TranslationModel& model, const PairRecord& record, std::vector<int32_t> prefix = {}) {
  SearchOptions options;
  options.max_length = search_limit(model.config, record.pair, prefix.size());
  options.prefix = std::move(prefix);
  return search(model, record.pair.source, record.pair.source_lengths, options)[0][0].tokens;
}

Tensor logits_of(const TranslationModel& model, const PairTokens& pair) {
  return model(pair.source, pair.source_lengths, pair.target_input).contiguous();
}

// The output matrix of an attention, [D,D]; columns are head by head.
Tensor output_matrix(const TranslationModel& model, AttentionKind kind, size_t layer) {
  if (kind == AttentionKind::encoder) return model.encoder.layers[layer].self_attn.output.weight;
  const DecoderLayer& decoder = model.decoder.layers[layer];
  return (kind == AttentionKind::decoder ? decoder.self_attn : decoder.cross_attn).output.weight;
}

}  // namespace

// --- a head less

ChangedOutput drop_head(TranslationModel& model, const PairRecord& record, AttentionKind kind, size_t layer, Dim head) {
  const NoGrad values_only;
  ChangedOutput out;
  out.before = greedy(model, record);
  const Dim width = record.attentions.at(kind)[layer].width();
  const ColumnsSilenced silenced(output_matrix(model, kind, layer), head * width, (head + 1) * width);
  out.logits = logits_of(model, record.pair);
  out.after = greedy(model, record);
  return out;
}

// --- other positions

namespace {

// Another scheme's positions in another order; behind the order's end each has its own.
class ReorderedPositions : public PositionScheme {
 public:
  ReorderedPositions(const PositionScheme& scheme, std::vector<int64_t> order)
      : PositionScheme(nullptr, "reordered_positions"), scheme_(scheme), order_(std::move(order)) {}

  Tensor embed(const Tensor& x, Dim first) const override {
    Tensors rows;
    for (Dim i = 0; i < x.size(1); ++i) rows.push_back(scheme_.embed(slice(x, 1, i, i + 1), place_of(first + i)));
    return concat(rows, 1);
  }
  const char* kind() const override { return "ReorderedPositions"; }

 private:
  Dim place_of(Dim position) const {
    return position < static_cast<Dim>(order_.size()) ? order_[static_cast<size_t>(position)] : position;
  }

  const PositionScheme& scheme_;
  std::vector<int64_t> order_;
};

// Another scheme in a model's place for one, for its lifetime.
class PositionsReplaced {
 public:
  PositionsReplaced(std::unique_ptr<PositionScheme>& place, std::unique_ptr<PositionScheme> scheme)
      : place_(place), aside_(std::exchange(place, std::move(scheme))) {}
  ~PositionsReplaced() { place_ = std::move(aside_); }
  PositionsReplaced(const PositionsReplaced&) = delete;
  PositionsReplaced& operator=(const PositionsReplaced&) = delete;

 private:
  std::unique_ptr<PositionScheme>& place_;
  std::unique_ptr<PositionScheme> aside_;
};

std::vector<int64_t> shuffled_order(Dim count, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  random.shuffle(order);
  return order;
}

}  // namespace

ChangedOutput shuffle_positions(TranslationModel& model, const PairRecord& record, Side side, uint64_t seed) {
  const NoGrad values_only;
  ChangedOutput out;
  out.before = greedy(model, record);
  auto& place = side == Side::source ? model.encoder_positions : model.decoder_positions;
  const Dim count = (side == Side::source ? record.pair.source : record.pair.target_input).numel();
  const PositionsReplaced replaced(place, std::make_unique<ReorderedPositions>(*place, shuffled_order(count, seed)));
  out.logits = logits_of(model, record.pair);
  out.after = greedy(model, record);
  return out;
}

// --- an edited row

namespace {

// What an edit adds to row `query` of its attention's output, [D]: the head's new context less the one it had, through
// the head's columns of the output matrix.
std::vector<double> added_by(const TranslationModel& model, const CapturedAttention& attention, const RowEdit& edit) {
  const Tensor value = of_head(attention.value, edit.head), context = of_head(attention.context, edit.head);
  const Dim width = attention.width();
  const float* had = context.data<float>() + edit.query * width;
  std::vector<double> change(had, had + width);
  for (double& x : change) x = -x;
  for (Dim j = 0; j < attention.keys_allowed(edit.query); ++j) {
    const float* row = value.data<float>() + j * width;
    for (size_t k = 0; k < change.size(); ++k)
      change[k] += edit.weights[static_cast<size_t>(j)] * static_cast<double>(row[k]);
  }
  const Tensor matrix = output_matrix(model, edit.kind, edit.layer);  // [D,D]
  std::vector<double> added(static_cast<size_t>(matrix.size(0)));
  for (size_t i = 0; i < added.size(); ++i) {
    const float* columns = matrix.data<float>() + static_cast<Dim>(i) * matrix.size(1) + edit.head * width;
    for (size_t k = 0; k < change.size(); ++k) added[i] += change[k] * static_cast<double>(columns[k]);
  }
  return added;
}

// A model whose attention has the edited row.
class EditedModel {
 public:
  EditedModel(const TranslationModel& model, const PairRecord& record, const RowEdit& edit)
      : model_(model),
        record_(record),
        edit_(edit),
        added_(added_by(model, record.attentions.at(edit.kind)[edit.layer], edit)) {}

  Tensor memory() const {
    const PairTokens& pair = record_.pair;
    if (edit_.kind != AttentionKind::encoder) return model_.encode(pair.source, pair.source_lengths);
    const PositionScheme* positions = model_.encoder_positions.get();
    const AttentionMask mask = AttentionMask::lengths(pair.source_lengths);
    Tensor x = positions->embed(model_.source_embedding(pair.source), 0);  // [1,S,D]
    for (size_t i = 0; i < model_.encoder.layers.size(); ++i) {
      const EncoderLayer& layer = model_.encoder.layers[i];
      x = i == edit_.layer ? edited(layer, x, mask, positions) : layer(x, mask, positions);
    }
    return model_.encoder.norm ? (*model_.encoder.norm)(x) : x;
  }

  // Target [1,T] from its beginning, the edited row among them -> logits [1,T,V]. Fills the cache.
  Tensor logits(const Tensor& target, const Tensor& memory, DecoderCache& cache) const {
    const Tensor& lengths = record_.pair.source_lengths;
    if (edit_.kind == AttentionKind::encoder) return model_.logits(model_.decode(target, memory, lengths, &cache));
    const PositionScheme* positions = model_.decoder_positions.get();
    const AttentionMask mask = AttentionMask::lengths(lengths);
    cache.layers.resize(model_.decoder.layers.size());
    Tensor y = positions->embed(model_.target_embedding(target), 0);  // [1,T,D]
    for (size_t i = 0; i < model_.decoder.layers.size(); ++i) {
      const DecoderLayer& layer = model_.decoder.layers[i];
      y = i == edit_.layer ? edited(layer, y, memory, mask, cache.layers[i])
                           : layer(y, memory, AttentionMask::none(), mask, positions, &cache.layers[i]);
    }
    return model_.logits(model_.decoder.norm ? (*model_.decoder.norm)(y) : y);
  }

 private:
  // What EncoderLayer and DecoderLayer compute, with the edit after their attention.
  Tensor edited(const EncoderLayer& layer, const Tensor& x, const AttentionMask& mask,
                const PositionScheme* positions) const {
    const Tensor y = layer.self_attn_residual(x, [&](const Tensor& z) {
      return with_edit(layer.self_attn(z, mask, AttentionContext{positions, nullptr}));
    });
    return layer.feed_forward_residual(y, [&](const Tensor& z) { return layer.feed_forward(z); });
  }
  Tensor edited(const DecoderLayer& layer, const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                DecoderLayerCache& cache) const {
    const AttentionContext self{model_.decoder_positions.get(), &cache.self_attn}, cross{nullptr, &cache.cross_attn};
    const bool in_cross = edit_.kind == AttentionKind::cross;
    Tensor y = layer.self_attn_residual(x, [&](const Tensor& z) {
      const Tensor out = layer.self_attn(z, AttentionMask::causal(), self);
      return in_cross ? out : with_edit(out);
    });
    y = layer.cross_attn_residual(y, [&](const Tensor& z) {
      const Tensor out = layer.cross_attn(z, memory, mask, cross);
      return in_cross ? with_edit(out) : out;
    });
    return layer.feed_forward_residual(y, [&](const Tensor& z) { return layer.feed_forward(z); });
  }

  Tensor with_edit(const Tensor& x) const {
    Tensor out = x.clone();  // [1,T,D]
    float* row = out.data<float>() + edit_.query * out.size(2);
    for (size_t i = 0; i < added_.size(); ++i) row[i] = static_cast<float>(static_cast<double>(row[i]) + added_[i]);
    return out;
  }

  const TranslationModel& model_;
  const PairRecord& record_;
  const RowEdit& edit_;
  std::vector<double> added_;  // [D]
};

// The likeliest token that a search may take; of equals the lowest.
int32_t likeliest(std::span<const float> logits) {
  int32_t best = unknown_token;
  for (int32_t token = 0; token < static_cast<int32_t>(logits.size()); ++token) {
    const bool taken = token != pad_token && token != bos_token;
    if (taken && logits[static_cast<size_t>(token)] > logits[static_cast<size_t>(best)]) best = token;
  }
  return best;
}

Tensor one_row(const std::vector<int32_t>& tokens) {
  return Tensor::from(tokens, {1, static_cast<Dim>(tokens.size())});
}

// Greedy search behind a prefix whose last row may be edited: from there on the cache remembers the edit.
std::vector<int32_t> greedy_edited(const TranslationModel& model, const EditedModel& edited, const PairRecord& record,
                                   std::vector<int32_t> tokens) {
  const int64_t most = search_limit(model.config, record.pair, tokens.size());
  std::vector<int32_t> input = tokens;
  input.insert(input.begin(), bos_token);
  const Tensor memory = edited.memory();
  DecoderCache cache;
  Tensor logits = edited.logits(one_row(input), memory, cache).contiguous();
  while (static_cast<int64_t>(tokens.size()) < most) {
    const int32_t token = likeliest(logit_row(logits, logits.size(1) - 1));
    if (token == eos_token) break;
    tokens.push_back(token);
    if (static_cast<int64_t>(tokens.size()) == most) break;
    logits = model.logits(model.decode(one_row({token}), memory, record.pair.source_lengths, &cache)).contiguous();
  }
  return tokens;
}

}  // namespace

ChangedOutput edit_row(const TranslationModel& model, const PairRecord& record, const RowEdit& edit) {
  const NoGrad values_only;
  const int32_t* target = record.pair.target_input.data<int32_t>();
  std::vector<int32_t> prefix;
  if (edit.kind != AttentionKind::encoder) prefix.assign(target + 1, target + 1 + edit.query);
  const EditedModel edited(model, record, edit);
  DecoderCache cache;
  ChangedOutput out;
  out.logits = edited.logits(record.pair.target_input, edited.memory(), cache).contiguous();
  out.before = greedy(model, record, prefix);
  out.after = greedy_edited(model, edited, record, std::move(prefix));
  return out;
}

}  // namespace glass
