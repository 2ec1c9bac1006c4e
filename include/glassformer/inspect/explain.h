// One head of attention taken apart: the shapes it passes through, and its four steps with every number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/decode/saved_model.h"
#include "glassformer/inspect/trace.h"
#include "glassformer/nn/attention.h"

namespace glass {

// A tensor on its way through the module: "split into heads", [1,3,2,4].
struct ShapeOnTheWay {
  std::string what, axes;  // axes in letters: "[B,T,H,K]"
  Shape shape;
};

// One matrix of one head, with names for its rows and columns.
struct HeadMatrix {
  int step = 0;         // 1 project, 2 scores, 3 softmax, 4 weighted sum
  std::string name;     // "scores"
  std::string formula;  // "Q Kᵀ / √K"
  std::string axes;     // "[T,S]"
  Tensor values;        // two axes
  std::vector<std::string> rows, columns;
  Tensor allowed;         // bool of the same shape, false where the mask forbids; undefined if nothing can be masked
  bool is_share = false;  // rows add up to 1
};

// How each of a head's matrices is made, for people.
struct AttentionFormulas {
  std::string query, key, value, scores, weights, context;
};
// `from_memory`: cross-attention; `width` is K.
AttentionFormulas attention_formulas(bool from_memory, const AttentionScale& scale, Dim width);

struct AttentionExplanation {
  std::string path;  // of the module, "decoder.layers.0.cross_attn"; empty for one by itself
  Dim head = 0, heads = 1;
  double scale = 1;  // what Q·Kᵀ was multiplied by
  std::vector<ShapeOnTheWay> walk;
  std::vector<HeadMatrix> steps;  // Q, K, V; scores; weights; context
};

// A fresh self-attention over words: embedding · √D + sinusoidal positions, weights from the seed.
struct FreshAttention {
  Dim d_model = 8, heads = 2;
  uint64_t seed = 1;
  AttentionScale scale;
  AttentionMask mask;
};
// Words are split at white space; equal words have equal embeddings. Throws InputError for no word, a head that is not
// there, or sizes that do not divide.
AttentionExplanation explain_fresh(const std::string& words, const FreshAttention& options, Dim head);

enum class AttentionKind { encoder, decoder, cross };

// A head of a trained model while it reads `source` and writes `target`; without a target, what greedy search gives.
// layer and head count from 0, from the end if negative. Throws InputError if there is no such layer or head.
AttentionExplanation explain_model(const SavedTranslation& saved, const std::string& source,
                                   const std::optional<std::string>& target, AttentionKind kind, Dim layer, Dim head);

}  // namespace glass
