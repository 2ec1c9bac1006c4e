// AttentionMask: which keys a query may attend to.
//
// There is one polarity, here and nowhere else: true means "may attend". Positions are absolute, so a causal mask is
// right when there are more keys than queries, with a cache, and in chunks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "glassformer/nn/packing.h"

namespace glass {

// A rectangle of scores of one example and head: queries [query, query+queries), keys [key, key+keys), all absolute.
struct ScoreBlock {
  Dim batch = 0, head = 0;
  Dim query = 0, queries = 0;
  Dim key = 0, keys = 0;
};

// Where the scores [B,H,T,S] of one call lie.
struct ScoreExtent {
  Dim batch = 1, heads = 1;
  Dim queries = 0, keys = 0;
  Dim first_query = 0;  // absolute position of query 0; the keys start at position 0
};

// Clears keep[i·keys + j] where query i of the block may not attend to key j. It may be called from several threads.
using MaskFunction = std::function<void(const ScoreBlock& block, bool* keep)>;

// A cheap value. `a & b` allows what both allow.
class AttentionMask {
 public:
  AttentionMask() = default;  // every query may attend to every key
  static AttentionMask none() { return {}; }
  // Query at position q may attend to keys at positions <= q.
  static AttentionMask causal();
  // Example b may attend to its first lengths[b] keys: the rest is padding. int32 or int64 [B].
  static AttentionMask lengths(const Tensor& lengths);
  // Queries and keys of several packed sequences: a query may attend to the keys of its own sequence. Causality and a
  // function of the user's own count positions within each sequence, and a function's batch is the sequence.
  static AttentionMask packed(const Packing& queries, const Packing& keys);
  // A function of the user's own over a block of scores.
  static AttentionMask function(MaskFunction function);
  // The same from bool(Dim batch, Dim head, Dim query, Dim key).
  template <class MayAttend>
  static AttentionMask where(MayAttend may_attend) {
    return function([may_attend](const ScoreBlock& block, bool* keep) {
      for (Dim i = 0; i < block.queries; ++i)
        for (Dim j = 0; j < block.keys; ++j)
          keep[i * block.keys + j] &= may_attend(block.batch, block.head, block.query + i, block.key + j);
    });
  }
  AttentionMask operator&(const AttentionMask& other) const;

  bool is_none() const { return !causal_ && lengths_.empty() && functions_.empty() && !packed_; }
  bool is_causal() const { return causal_; }
  // Throws ShapeError unless the scores are those of the packed sequences.
  void check_packed(const ScoreExtent& extent) const;
  // For each example the number of keys before its padding, and where a user's own functions come on top: what
  // attention by blocks asks instead of keep(). Throws ShapeError as keep() does.
  std::vector<int64_t> unpadded_keys(const ScoreExtent& extent) const;
  bool has_functions() const { return !functions_.empty(); }
  void apply_functions(const ScoreBlock& block, bool* keep) const;
  struct Packed {
    Packing queries, keys;
  };
  const std::optional<Packed>& packed() const { return packed_; }
  // One pair, by the definition; of packed sequences with rows of the whole packed tensor.
  bool may_attend(Dim batch, Dim head, Dim query, Dim key) const;
  // The mask of a whole call, bool, [B or 1, H or 1, T or 1, S]; undefined if everything is allowed. Throws ShapeError
  // if the lengths are not those of `extent.batch` examples.
  Tensor keep(const ScoreExtent& extent) const;

 private:
  Tensor keep_packed(const ScoreExtent& extent) const;

  bool causal_ = false;
  std::optional<Packed> packed_;
  std::vector<Tensor> lengths_;
  std::vector<MaskFunction> functions_;
};

// How many of the keep-mask's rows allow no key at all. Their attention output is zero, which is rarely meant.
Dim count_fully_masked_rows(const Tensor& keep);

}  // namespace glass
