// From token numbers to batches. The order is a pure function of the seed and the epoch, so that a run can go on in the
// middle exactly as if it had not stopped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "glassformer/data/vocabulary.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

// One pair, with its special tokens: source x + EOS, target BOS + y + EOS.
struct Example {
  std::vector<int32_t> source, target;
  int64_t line = 0;  // where it comes from, from 1
};

enum class LongLines { skip, cut };

struct ExampleSet {
  std::vector<Example> examples;
  int64_t too_long = 0;  // skipped or cut, as chosen
  int64_t empty = 0;     // skipped: a side without tokens
};

// max_length, at least 2, counts tokens of a side without BOS, with EOS. Throws ValueError for a smaller one or if the
// sides differ in number.
ExampleSet make_examples(const std::vector<std::string>& source, const std::vector<std::string>& target,
                         const Vocabulary& source_vocabulary, const Vocabulary& target_vocabulary, int64_t max_length,
                         LongLines long_lines);

struct TranslationBatch {
  Tensor source;               // [B,S] int32, padded at the end
  Tensor source_lengths;       // [B] int32
  Tensor target_input;         // [B,T] int32: BOS + y
  Tensor target_output;        // [B,T] int32: y + EOS; padding is pad_token, which the loss ignores
  Tensor target_lengths;       // [B] int32: of target_input, and as well of target_output
  std::vector<int64_t> lines;  // where the rows come from
  int64_t target_tokens = 0;   // counted by the loss
  int64_t real_tokens = 0;     // both sides, without padding
};

TranslationBatch make_batch(const std::vector<Example>& examples, const std::vector<int64_t>& rows);

struct BatchLimits {
  int64_t tokens = 4096;  // rows × the longest side of any row; 0 for no limit
  int64_t sentences = 0;  // 0 for no limit
};

// The batches of one epoch: examples are shuffled, sorted by length within chunks, cut into batches, and those
// shuffled. Every example is in exactly one batch. A single example longer than the limit makes a batch of its own.
std::vector<std::vector<int64_t>> plan_epoch(const std::vector<Example>& examples, const BatchLimits& limits,
                                             uint64_t seed, int64_t epoch);

// In order of length, unshuffled: for validation.
std::vector<std::vector<int64_t>> plan_by_length(const std::vector<Example>& examples, const BatchLimits& limits);

}  // namespace glass
