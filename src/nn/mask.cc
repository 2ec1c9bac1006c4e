#include "glassformer/nn/mask.h"

#include <algorithm>

#include "glassformer/base/error.h"

namespace glass {

AttentionMask AttentionMask::causal() {
  AttentionMask mask;
  mask.causal_ = true;
  return mask;
}

AttentionMask AttentionMask::lengths(const Tensor& lengths) {
  if (lengths.rank() != 1 || (lengths.dtype() != DType::i32 && lengths.dtype() != DType::i64)) {
    throw ShapeError("AttentionMask::lengths: takes int32 or int64 of shape [B], got " +
                     std::string(dtype_name(lengths.dtype())) + " " + lengths.shape().text());
  }
  AttentionMask mask;
  mask.lengths_.push_back(lengths.to(DType::i64).contiguous());
  return mask;
}

AttentionMask AttentionMask::packed(const Packing& queries, const Packing& keys) {
  if (queries.count() != keys.count()) {
    throw ShapeError("AttentionMask::packed: queries of " + std::to_string(queries.count()) +
                     " sequences and keys of " + std::to_string(keys.count()));
  }
  AttentionMask mask;
  mask.packed_ = Packed{queries, keys};
  return mask;
}

AttentionMask AttentionMask::function(MaskFunction function) {
  AttentionMask mask;
  mask.functions_.push_back(std::move(function));
  return mask;
}

AttentionMask AttentionMask::operator&(const AttentionMask& other) const {
  AttentionMask both = *this;
  both.causal_ = causal_ || other.causal_;
  both.lengths_.insert(both.lengths_.end(), other.lengths_.begin(), other.lengths_.end());
  if (packed_ && other.packed_ &&
      !(packed_->queries == other.packed_->queries && packed_->keys == other.packed_->keys)) {
    throw ShapeError("AttentionMask: two masks of differently packed sequences");
  }
  if (!both.packed_) both.packed_ = other.packed_;
  both.functions_.insert(both.functions_.end(), other.functions_.begin(), other.functions_.end());
  return both;
}

namespace {

struct Place {
  Dim sequence, row;
};

Place place_of(const Packing& packing, Dim row) {
  Dim sequence = 0;
  for (const int64_t length : packing.lengths()) {
    if (row < length) break;
    row -= length;
    ++sequence;
  }
  return {sequence, row};
}

}  // namespace

bool AttentionMask::may_attend(Dim batch, Dim head, Dim query, Dim key) const {
  if (packed_) {
    const Place of_query = place_of(packed_->queries, query), of_key = place_of(packed_->keys, key);
    if (of_query.sequence != of_key.sequence) return false;
    batch = of_query.sequence;
    query = of_query.row;
    key = of_key.row;
  }
  if (causal_ && key > query) return false;
  for (const Tensor& lengths : lengths_) {
    if (key >= lengths.data<int64_t>()[batch]) return false;
  }
  bool keep = true;
  for (const MaskFunction& function : functions_) function({batch, head, query, 1, key, 1}, &keep);
  return keep;
}

std::vector<int64_t> AttentionMask::unpadded_keys(const ScoreExtent& extent) const {
  std::vector<int64_t> keys(static_cast<size_t>(extent.batch), extent.keys);
  for (const Tensor& lengths : lengths_) {
    if (lengths.numel() != extent.batch) {
      throw ShapeError("AttentionMask: lengths of " + std::to_string(lengths.numel()) + " examples for a batch of " +
                       std::to_string(extent.batch));
    }
    for (size_t b = 0; b < keys.size(); ++b) keys[b] = std::clamp<int64_t>(lengths.data<int64_t>()[b], 0, keys[b]);
  }
  return keys;
}

void AttentionMask::apply_functions(const ScoreBlock& block, bool* keep) const {
  for (const MaskFunction& function : functions_) function(block, keep);
}

Tensor AttentionMask::keep(const ScoreExtent& extent) const {
  if (is_none()) return {};
  if (packed_) return keep_packed(extent);
  const std::vector<int64_t> lengths = unpadded_keys(extent);
  // Only as large as what the parts distinguish: the rest broadcasts.
  const bool own_function = has_functions();
  const Dim batch = own_function || !lengths_.empty() ? extent.batch : 1;
  const Dim heads = own_function ? extent.heads : 1;
  const Dim queries = own_function || causal_ ? extent.queries : 1;
  Tensor out = Tensor::empty({batch, heads, queries, extent.keys}, DType::boolean);
  bool* block = out.data<bool>();
  for (Dim b = 0; b < batch; ++b) {
    const Dim length = lengths_.empty() ? extent.keys : lengths[static_cast<size_t>(b)];
    for (Dim h = 0; h < heads; ++h, block += queries * extent.keys) {
      for (Dim q = 0; q < queries; ++q) {
        const Dim visible = causal_ ? std::min(length, extent.first_query + q + 1) : length;
        for (Dim k = 0; k < extent.keys; ++k) block[q * extent.keys + k] = k < visible;
      }
      apply_functions({b, h, extent.first_query, queries, 0, extent.keys}, block);
    }
  }
  return out;
}

// Rectangles along the diagonal.
Tensor AttentionMask::keep_packed(const ScoreExtent& extent) const {
  check_packed(extent);
  const Dim heads = has_functions() ? extent.heads : 1;
  Tensor out = Tensor::full({1, heads, extent.queries, extent.keys}, 0, DType::boolean);
  const std::vector<int64_t> first_queries = packed_->queries.begins(), first_keys = packed_->keys.begins();
  for (Dim s = 0; s < packed_->queries.count(); ++s) {
    const auto at = static_cast<size_t>(s);
    const Dim queries = packed_->queries.lengths()[at], keys = packed_->keys.lengths()[at];
    for (Dim h = 0; h < heads; ++h) {
      Tensor own = Tensor::full({queries, keys}, 1, DType::boolean);
      bool* block = own.data<bool>();
      for (Dim q = 0; q < queries && causal_; ++q)
        std::fill(block + q * keys + std::min(keys, q + 1), block + (q + 1) * keys, false);
      apply_functions({s, h, 0, queries, 0, keys}, block);
      out.narrowed(1, h, h + 1)
          .narrowed(2, first_queries[at], first_queries[at] + queries)
          .narrowed(3, first_keys[at], first_keys[at] + keys)
          .copy_from(own);
    }
  }
  return out;
}

void AttentionMask::check_packed(const ScoreExtent& extent) const {
  if (!lengths_.empty()) throw ShapeError("AttentionMask: packed sequences have no padding, so they take no lengths");
  if (extent.batch == 1 && extent.first_query == 0 && extent.queries == packed_->queries.rows() &&
      extent.keys == packed_->keys.rows()) {
    return;
  }
  throw ShapeError("AttentionMask: packed sequences of " + std::to_string(packed_->queries.rows()) + " queries and " +
                   std::to_string(packed_->keys.rows()) + " keys for scores [" + std::to_string(extent.batch) + ",H," +
                   std::to_string(extent.queries) + "," + std::to_string(extent.keys) + "]");
}

Dim count_fully_masked_rows(const Tensor& keep) {
  if (!keep.defined() || keep.size(-1) == 0) return 0;
  const Tensor dense = keep.contiguous();
  const Dim keys = dense.size(-1);
  Dim count = 0;
  for (const bool* row = dense.data<bool>(); row != dense.data<bool>() + dense.numel(); row += keys) {
    count += std::find(row, row + keys, true) == row + keys;
  }
  return count;
}

}  // namespace glass
