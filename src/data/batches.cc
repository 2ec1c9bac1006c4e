#include "glassformer/data/batches.h"

#include <algorithm>
#include <numeric>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"

namespace glass {

namespace {

// Whether the pair was too long; it is then cut if so chosen.
bool limit_length(Example& example, int64_t max_length, LongLines long_lines) {
  const auto longest = static_cast<size_t>(max_length - 1);  // EOS comes on top
  if (example.source.size() <= longest && example.target.size() <= longest) return false;
  if (long_lines == LongLines::cut) {
    example.source.resize(std::min(example.source.size(), longest));
    example.target.resize(std::min(example.target.size(), longest));
  }
  return true;
}

}  // namespace

ExampleSet make_examples(const std::vector<std::string>& source, const std::vector<std::string>& target,
                         const Vocabulary& source_vocabulary, const Vocabulary& target_vocabulary, int64_t max_length,
                         LongLines long_lines) {
  if (source.size() != target.size()) {
    throw ValueError("examples: " + std::to_string(source.size()) + " source lines, " + std::to_string(target.size()) +
                     " target lines");
  }
  if (max_length < 2) {
    throw ValueError("examples: max_length " + std::to_string(max_length) + " leaves no room for a token and EOS");
  }
  ExampleSet set;
  for (size_t i = 0; i < source.size(); ++i) {
    Example example{source_vocabulary.encode(source[i]), target_vocabulary.encode(target[i]),
                    static_cast<int64_t>(i) + 1};
    if (example.source.empty() || example.target.empty()) {
      ++set.empty;
      continue;
    }
    if (limit_length(example, max_length, long_lines)) {
      ++set.too_long;
      if (long_lines == LongLines::skip) continue;
    }
    example.source.push_back(eos_token);
    example.target.insert(example.target.begin(), bos_token);
    example.target.push_back(eos_token);
    set.examples.push_back(std::move(example));
  }
  return set;
}

TranslationBatch make_batch(const std::vector<Example>& examples, const std::vector<int64_t>& rows) {
  size_t source_length = 0, target_length = 0;
  for (const int64_t row : rows) {
    source_length = std::max(source_length, examples[static_cast<size_t>(row)].source.size());
    target_length = std::max(target_length, examples[static_cast<size_t>(row)].target.size() - 1);
  }
  const auto count = static_cast<Dim>(rows.size()), s = static_cast<Dim>(source_length),
             t = static_cast<Dim>(target_length);
  TranslationBatch batch;
  batch.source = Tensor::full({count, s}, pad_token, DType::i32);
  batch.source_lengths = Tensor::zeros({count}, DType::i32);
  batch.target_input = Tensor::full({count, t}, pad_token, DType::i32);
  batch.target_output = Tensor::full({count, t}, pad_token, DType::i32);
  batch.target_lengths = Tensor::zeros({count}, DType::i32);
  for (Dim b = 0; b < count; ++b) {
    const Example& example = examples[static_cast<size_t>(rows[static_cast<size_t>(b)])];
    std::copy(example.source.begin(), example.source.end(), batch.source.data<int32_t>() + b * s);
    std::copy(example.target.begin(), example.target.end() - 1, batch.target_input.data<int32_t>() + b * t);
    std::copy(example.target.begin() + 1, example.target.end(), batch.target_output.data<int32_t>() + b * t);
    batch.source_lengths.data<int32_t>()[b] = static_cast<int32_t>(example.source.size());
    batch.target_lengths.data<int32_t>()[b] = static_cast<int32_t>(example.target.size()) - 1;
    batch.lines.push_back(example.line);
    batch.target_tokens += static_cast<int64_t>(example.target.size()) - 1;
    batch.real_tokens += static_cast<int64_t>(example.source.size() + example.target.size()) - 1;
  }
  return batch;
}

namespace {

int64_t longest_side(const Example& example) {
  return static_cast<int64_t>(std::max(example.source.size(), example.target.size()));
}

// Cuts rows, in their order, into batches within the limits.
void cut_batches(const std::vector<Example>& examples, const std::vector<int64_t>& rows, const BatchLimits& limits,
                 std::vector<std::vector<int64_t>>& batches) {
  std::vector<int64_t> current;
  int64_t longest = 0;
  for (const int64_t row : rows) {
    const int64_t length = longest_side(examples[static_cast<size_t>(row)]);
    const int64_t with = static_cast<int64_t>(current.size()) + 1, wider = std::max(longest, length);
    const bool full =
        (limits.tokens > 0 && with * wider > limits.tokens) || (limits.sentences > 0 && with > limits.sentences);
    if (full && !current.empty()) {
      batches.push_back(std::move(current));
      current.clear();
      longest = 0;
    }
    current.push_back(row);
    longest = std::max(longest, length);
  }
  if (!current.empty()) batches.push_back(std::move(current));
}

void sort_by_length(const std::vector<Example>& examples, std::vector<int64_t>::iterator begin,
                    std::vector<int64_t>::iterator end) {
  std::stable_sort(begin, end, [&](int64_t a, int64_t b) {
    const Example &x = examples[static_cast<size_t>(a)], &y = examples[static_cast<size_t>(b)];
    return std::pair(x.target.size(), x.source.size()) < std::pair(y.target.size(), y.source.size());
  });
}

std::vector<int64_t> all_rows(const std::vector<Example>& examples) {
  std::vector<int64_t> rows(examples.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

}  // namespace

std::vector<std::vector<int64_t>> plan_epoch(const std::vector<Example>& examples, const BatchLimits& limits,
                                             uint64_t seed, int64_t epoch) {
  constexpr int64_t chunk = 3000;  // long enough for batches of one length, short enough to keep the order random
  Random random(hash_combine(hash_combine(seed, hash_text("batches")), static_cast<uint64_t>(epoch)));
  std::vector<int64_t> rows = all_rows(examples);
  random.shuffle(rows);
  std::vector<std::vector<int64_t>> batches;
  for (size_t begin = 0; begin < rows.size(); begin += chunk) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), begin + chunk));
    sort_by_length(examples, from, to);
    cut_batches(examples, {from, to}, limits, batches);
  }
  random.shuffle(batches);
  return batches;
}

std::vector<std::vector<int64_t>> plan_by_length(const std::vector<Example>& examples, const BatchLimits& limits) {
  std::vector<int64_t> rows = all_rows(examples);
  sort_by_length(examples, rows.begin(), rows.end());
  std::vector<std::vector<int64_t>> batches;
  cut_batches(examples, rows, limits, batches);
  return batches;
}

}  // namespace glass
