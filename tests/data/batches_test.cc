#include "glassformer/data/batches.h"

#include <algorithm>
#include <set>

#include "data/files.h"
#include "glassformer/base/random.h"

namespace glass {
namespace {

std::vector<Example> random_examples(int count, uint64_t seed) {
  Random random(seed);
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) {
    Example example;
    example.source.assign(1 + random.below(40), special_tokens);
    example.source.push_back(eos_token);
    example.target.assign(1 + random.below(40), special_tokens + 1);
    example.target.insert(example.target.begin(), bos_token);
    example.target.push_back(eos_token);
    example.line = i + 1;
    examples.push_back(std::move(example));
  }
  return examples;
}

int64_t padded_tokens(const std::vector<Example>& examples, const std::vector<int64_t>& rows) {
  size_t longest = 0;
  for (const int64_t row : rows) {
    const Example& example = examples[static_cast<size_t>(row)];
    longest = std::max({longest, example.source.size(), example.target.size()});
  }
  return static_cast<int64_t>(longest * rows.size());
}

using Plan = std::vector<std::vector<int64_t>>;

std::vector<int64_t> sorted_rows(const Plan& plan) {
  std::vector<int64_t> rows;
  for (const auto& batch : plan) rows.insert(rows.end(), batch.begin(), batch.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(BatchPlan, EachExampleOncePerEpochWithinTheLimits) {
  for (const BatchLimits limits : {BatchLimits{3000, 0}, {100, 0}, {0, 7}, {300, 9}, {0, 0}}) {
    const auto examples = random_examples(7001, 1);
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      const Plan plan = plan_epoch(examples, limits, 5, epoch);
      const auto rows = sorted_rows(plan);
      ASSERT_EQ(rows.size(), examples.size());
      for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<int64_t>(i));
      for (const auto& batch : plan) {
        EXPECT_FALSE(batch.empty());
        if (limits.tokens > 0) {
          EXPECT_LE(padded_tokens(examples, batch), limits.tokens);
        }
        if (limits.sentences > 0) {
          EXPECT_LE(static_cast<int64_t>(batch.size()), limits.sentences);
        }
      }
    }
  }
}

TEST(BatchPlan, IsAFunctionOfSeedAndEpoch) {
  const auto examples = random_examples(7000, 7);
  const Plan plan = plan_epoch(examples, {200, 0}, 1, 0);
  EXPECT_EQ(plan_epoch(examples, {200, 0}, 1, 0), plan);
  EXPECT_NE(plan_epoch(examples, {200, 0}, 1, 1), plan);
  EXPECT_NE(plan_epoch(examples, {200, 0}, 2, 0), plan);
}

TEST(BatchPlan, ALoneExampleOverTheLimitIsKept) {
  auto examples = random_examples(50, 2);
  examples[17].source.insert(examples[17].source.begin(), 500, special_tokens);
  const Plan plan = plan_epoch(examples, {100, 0}, 1, 0);
  EXPECT_EQ(sorted_rows(plan).size(), 50u);
  for (const auto& batch : plan) {
    if (std::count(batch.begin(), batch.end(), 17) != 0) {
      EXPECT_EQ(batch.size(), 1u);
    }
  }
}

// The same lengths side by side: less than a tenth is padding, where random order would pad about half.
TEST(BatchPlan, BucketsByLength) {
  const auto examples = random_examples(6000, 3);
  double real = 0, padded = 0, random_padded = 0;
  for (const auto& batch : plan_epoch(examples, {1000, 0}, 1, 0)) {
    size_t target = 0;
    for (const int64_t row : batch) target = std::max(target, examples[static_cast<size_t>(row)].target.size());
    for (const int64_t row : batch) real += static_cast<double>(examples[static_cast<size_t>(row)].target.size());
    padded += static_cast<double>(target * batch.size());
    random_padded += 42.0 * static_cast<double>(batch.size());
  }
  EXPECT_LT(padded, 1.1 * real);
  EXPECT_GT(random_padded, 1.5 * real);
}

// A run that stops after any batch goes on with those an uninterrupted run would have had: the plan needs no state.
TEST(BatchPlan, ResumedAnywhereEqualsUninterrupted) {
  const auto examples = random_examples(500, 4);
  Plan whole;
  std::vector<std::pair<int64_t, size_t>> places;  // epoch and index of each batch
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const Plan plan = plan_epoch(examples, {200, 0}, 9, epoch);
    for (size_t i = 0; i < plan.size(); ++i) {
      whole.push_back(plan[i]);
      places.emplace_back(epoch, i);
    }
  }
  for (size_t stop = 0; stop < whole.size(); stop += 11) {
    auto [epoch, index] = places[stop];
    Plan plan = plan_epoch(examples, {200, 0}, 9, epoch);
    for (size_t k = stop; k < std::min(whole.size(), stop + 150); ++k) {
      if (index == plan.size()) {
        plan = plan_epoch(examples, {200, 0}, 9, ++epoch);
        index = 0;
      }
      ASSERT_EQ(plan[index++], whole[k]);
    }
  }
}

TEST(BatchPlan, ForValidationIsInOrderOfLength) {
  const auto examples = random_examples(300, 5);
  const Plan plan = plan_by_length(examples, {200, 0});
  EXPECT_EQ(sorted_rows(plan).size(), 300u);
  size_t before = 0;
  for (const auto& batch : plan) {
    for (const int64_t row : batch) {
      EXPECT_GE(examples[static_cast<size_t>(row)].target.size(), before);
      before = examples[static_cast<size_t>(row)].target.size();
    }
  }
  EXPECT_TRUE(plan_epoch({}, {200, 0}, 1, 0).empty());
  EXPECT_TRUE(plan_by_length({}, {200, 0}).empty());
}

// The rule of the PyTorch comparison: sentences × the longest side, EOS and BOS counted, is at most the budget.
TEST(BatchPlan, FillsABatchToTheBudgetExactly) {
  std::vector<Example> examples(30,
                                {std::vector<int32_t>(9, special_tokens), std::vector<int32_t>(10, special_tokens), 1});
  for (const auto& batch : plan_by_length(examples, {100, 0})) EXPECT_EQ(batch.size(), 10u);
  EXPECT_EQ(plan_by_length(examples, {99, 0})[0].size(), 9u);
}

TEST(BatchTensors, ShiftTheTargetAndPadTheEnd) {
  const std::vector<Example> examples{{{7, 8, eos_token}, {bos_token, 9, eos_token}, 1},
                                      {{7, eos_token}, {bos_token, 4, 5, eos_token}, 2}};
  const TranslationBatch batch = make_batch(examples, {0, 1});
  EXPECT_EQ(batch.source.to_vector(), (std::vector<double>{7, 8, 3, 7, 3, 0}));
  EXPECT_EQ(batch.source_lengths.to_vector(), (std::vector<double>{3, 2}));
  EXPECT_EQ(batch.target_input.to_vector(), (std::vector<double>{2, 9, 0, 2, 4, 5}));
  EXPECT_EQ(batch.target_output.to_vector(), (std::vector<double>{9, 3, 0, 4, 5, 3}));
  EXPECT_EQ(batch.target_tokens, 5);
}

TEST(BatchTensors, HoldTheRowsAndCountTheirTokens) {
  const auto examples = random_examples(64, 6);
  int64_t tokens = 0, targets = 0;
  for (const auto& rows : plan_epoch(examples, {400, 0}, 1, 0)) {
    const TranslationBatch batch = make_batch(examples, rows);
    const Dim count = batch.source.size(0);
    ASSERT_EQ(count, static_cast<Dim>(rows.size()));
    EXPECT_EQ(batch.target_input.shape(), batch.target_output.shape());
    for (const Tensor* t :
         {&batch.source, &batch.source_lengths, &batch.target_input, &batch.target_output, &batch.target_lengths}) {
      EXPECT_EQ(t->dtype(), DType::i32);
    }
    for (Dim b = 0; b < count; ++b) {
      const Example& example = examples[static_cast<size_t>(rows[static_cast<size_t>(b)])];
      const auto source_length = static_cast<Dim>(example.source.size()),
                 target_length = static_cast<Dim>(example.target.size()) - 1;
      EXPECT_EQ(batch.lines[static_cast<size_t>(b)], example.line);
      EXPECT_EQ(batch.source_lengths.at({b}), source_length);
      EXPECT_EQ(batch.target_lengths.at({b}), target_length);
      EXPECT_EQ(batch.source.at({b, source_length - 1}), eos_token);
      EXPECT_EQ(batch.target_input.at({b, 0}), bos_token);
      EXPECT_EQ(batch.target_output.at({b, target_length - 1}), eos_token);  // EOS is in the loss
      for (Dim s = source_length; s < batch.source.size(1); ++s) EXPECT_EQ(batch.source.at({b, s}), pad_token);
      for (Dim t = 1; t < target_length; ++t)
        EXPECT_EQ(batch.target_input.at({b, t}), batch.target_output.at({b, t - 1}));
      for (Dim t = target_length; t < batch.target_output.size(1); ++t)
        EXPECT_EQ(batch.target_output.at({b, t}), pad_token);
    }
    tokens += batch.real_tokens;
    targets += batch.target_tokens;
  }
  int64_t expected_tokens = 0, expected_targets = 0;
  for (const Example& example : examples) {
    expected_targets += static_cast<int64_t>(example.target.size()) - 1;
    expected_tokens += static_cast<int64_t>(example.source.size() + example.target.size()) - 1;
  }
  EXPECT_EQ(tokens, expected_tokens);
  EXPECT_EQ(targets, expected_targets);
}

TEST(BatchExamples, MaxLengthCountsEosButNotBos) {
  const auto words = train_vocabulary({"a b c d e f"}, {"word", 100, 1});
  const std::vector<std::string> three{"a b c"}, four{"a b c d"};
  EXPECT_EQ(make_examples(three, three, *words, *words, 4, LongLines::skip).too_long, 0);
  EXPECT_EQ(make_examples(four, three, *words, *words, 4, LongLines::skip).too_long, 1);
  EXPECT_EQ(make_examples(three, four, *words, *words, 4, LongLines::skip).too_long, 1);
  const ExampleSet cut = make_examples(three, four, *words, *words, 4, LongLines::cut);
  EXPECT_EQ(cut.too_long, 1);
  EXPECT_EQ(cut.examples[0].target, (std::vector<int32_t>{bos_token, 4, 5, 6, eos_token}));
  EXPECT_EQ(cut.examples[0].source, (std::vector<int32_t>{4, 5, 6, eos_token}));
}

TEST(BatchExamples, KeepTheirLineNumbersWhereOthersAreLeftOut) {
  const auto words = train_vocabulary({"a b c d e f"}, {"word", 100, 1});
  const std::vector<std::string> source{"", "a b", "a b c d e"}, target{"c", "a", "b"};
  const ExampleSet skipped = make_examples(source, target, *words, *words, 4, LongLines::skip);
  ASSERT_EQ(skipped.examples.size(), 1u);
  EXPECT_EQ(skipped.examples[0].line, 2);
  EXPECT_EQ(skipped.too_long, 1);
  EXPECT_EQ(skipped.empty, 1);
  const ExampleSet cut = make_examples(source, target, *words, *words, 4, LongLines::cut);
  ASSERT_EQ(cut.examples.size(), 2u);
  EXPECT_EQ(cut.examples[1].line, 3);
  EXPECT_EQ(cut.examples[1].source.size(), 4u);  // three words and EOS
  EXPECT_EQ(cut.empty, 1);
}

TEST(BatchExamples, WrongSizesAreRefused) {
  const auto words = train_vocabulary({"a b"}, {"word", 100, 1});
  EXPECT_THROW(make_examples({"a"}, {"a", "b"}, *words, *words, 4, LongLines::skip), ValueError);
  EXPECT_THROW(make_examples({"a"}, {"a"}, *words, *words, 1, LongLines::cut), ValueError);
  EXPECT_EQ(make_examples({"a a a"}, {"b"}, *words, *words, 2, LongLines::cut).examples[0].source.size(), 2u);
}

}  // namespace
}  // namespace glass
