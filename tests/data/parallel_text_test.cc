#include <algorithm>
#include <cmath>
#include <set>

#include "data/files.h"
#include "glassformer/data/text.h"

namespace glass {
namespace {

using Lines = std::vector<std::string>;

TEST(PairFiles, DifferentLengthsNameBothFilesAndCounts) {
  const TemporaryFolder folder;
  const std::string source = folder.put("a", "1\n2\n3"), target = folder.put("b", "1\n2\n");
  const std::string message = message_of([&] { read_pairs(source, target); });
  EXPECT_TRUE(contains(message, source + " has 3 lines, " + target + " has 2")) << message;
  const ParallelText text = read_pairs(source, source);
  EXPECT_EQ(text.size(), 3u);
  EXPECT_EQ(text.target, (Lines{"1", "2", "3"}));
}

TEST(PairFiles, TsvTakesTwoColumnsAndLeavesTheRest) {
  const TemporaryFolder folder;
  const ParallelText text = read_tsv_pairs(folder.put("a", "\uFEFFa b\tc\r\nd\te\tby someone\tmore\n\t\n"));
  EXPECT_EQ(text.source, (Lines{"a b", "d", ""}));
  EXPECT_EQ(text.target, (Lines{"c", "e", ""}));
  const std::string bad = folder.put("b", "a\tb\nno tab\n");
  EXPECT_TRUE(contains(message_of([&] { read_tsv_pairs(bad); }), bad + ":2: no tab"));
  EXPECT_TRUE(contains(message_of([&] { read_tsv_pairs(folder.put("c", "")); }), "empty"));
}

ParallelText numbered(int count) {
  ParallelText text;
  for (int i = 0; i < count; ++i) {
    text.source.push_back(std::to_string(i) + " source");
    text.target.push_back(std::to_string(i) + " target");
  }
  return text;
}

TEST(PairSplit, HeldOutRowsDifferFromEachOtherAndAllAreShuffled) {
  ParallelText text = numbered(400);
  for (size_t i = 0; i < 400; i += 4) text.source[i] = text.source[i / 16], text.target[i] = text.target[i / 32];
  const SplitText split = split_by_distinct_sentence(text, 0.25, 3);
  EXPECT_EQ(std::set<std::string>(split.valid.source.begin(), split.valid.source.end()).size(), 100u);
  EXPECT_EQ(std::set<std::string>(split.valid.target.begin(), split.valid.target.end()).size(), 100u);
  EXPECT_FALSE(std::is_sorted(split.train.source.begin(), split.train.source.end()));
  EXPECT_GT(split.left_out, 0u);
}

std::set<std::string> distinct(const std::vector<std::string>& lines) { return {lines.begin(), lines.end()}; }

TEST(PairSplit, NothingHeldOutSharesASideWithTraining) {
  ParallelText text;
  for (int i = 0; i < 300; ++i) {
    text.source.push_back(std::to_string(i / 2) + " source");
    text.target.push_back(std::to_string(i / 3) + " target");
  }
  const SplitText split = split_by_distinct_sentence(text, 0.1, 1);
  EXPECT_EQ(split.valid.size(), 30u);
  EXPECT_EQ(split.train.size() + split.valid.size() + split.left_out, 300u);
  const auto source = distinct(split.train.source), target = distinct(split.train.target);
  for (size_t i = 0; i < split.valid.size(); ++i) {
    EXPECT_FALSE(source.contains(split.valid.source[i]));
    EXPECT_FALSE(target.contains(split.valid.target[i]));
  }
  EXPECT_EQ(split_by_distinct_sentence(text, 0.1, 1).valid.source, split.valid.source);
  EXPECT_NE(split_by_distinct_sentence(text, 0.1, 2).valid.source, split.valid.source);
}

TEST(PairSplit, HoldsOutOneAtLeastAndLeavesSomeToTrainOn) {
  EXPECT_EQ(split_by_distinct_sentence(numbered(10), 0.01, 1).valid.size(), 1u);
  EXPECT_EQ(split_by_distinct_sentence(numbered(10), 0, 1).train.size(), 10u);
  for (const double fraction : {-0.1, 1.0, 2.0, std::nan("")}) {
    EXPECT_THROW(split_by_distinct_sentence(numbered(10), fraction, 1), InputError) << fraction;
  }
  const ParallelText same{{"a", "a", "a"}, {"b", "b", "b"}};
  EXPECT_TRUE(contains(message_of([&] { split_by_distinct_sentence(same, 0.1, 1); }), "none to train on"));
}

// The corpus in this repository was split once; its numbers mean something only if that split does not leak.
TEST(BundledCorpus, DoesNotLeak) {
  const std::string folder = source_path("data/tatoeba-en-zh/");
  const ParallelText train = read_tsv_pairs(folder + "train.tsv.gz");
  EXPECT_EQ(train.size(), 27020u);
  const auto source = distinct(train.source), target = distinct(train.target);
  std::set<std::string> held_out;
  for (const char* part : {"valid.tsv.gz", "test.tsv.gz"}) {
    const ParallelText text = read_tsv_pairs(folder + part);
    for (size_t i = 0; i < text.size(); ++i) {
      EXPECT_FALSE(source.contains(text.source[i]));
      EXPECT_FALSE(target.contains(text.target[i]));
      EXPECT_TRUE(held_out.insert(text.source[i]).second);
      EXPECT_TRUE(held_out.insert(text.target[i]).second);
    }
  }
}

TEST(PairReport, CountsDuplicatesEmptiesAndCopies) {
  const ParallelText text{{"ab", "ab", "ab", "a", "\u3000 ", "", "x", "äöü€"},
                          {"c", "c", "d", "bc", "e", "", "x", "c"}};
  const PairStatistics report = inspect_pairs(text);
  EXPECT_EQ(report.pairs, 8);
  EXPECT_EQ(report.duplicate_pairs, 1);  // ab+c is not a+bc
  EXPECT_EQ(report.duplicate_sources, 2);
  EXPECT_EQ(report.duplicate_targets, 2);
  EXPECT_EQ(report.empty_sources, 2);
  EXPECT_EQ(report.empty_targets, 1);
  EXPECT_EQ(report.copies, 1);
  EXPECT_DOUBLE_EQ(report.mean_source_length, (2 + 2 + 2 + 1 + 2 + 0 + 1 + 4) / 8.0);  // characters, not bytes
  EXPECT_EQ(report.longest_source_line, 8);
  EXPECT_EQ(report.longest_target_line, 4);
}

TEST(PairReport, FindsLengthOutliers) {
  ParallelText text;
  for (size_t i = 0; i < 50; ++i) {
    text.source.emplace_back(20 + i % 7, 'a');
    text.target.emplace_back(10 + i % 5, 'b');
  }
  EXPECT_TRUE(inspect_pairs(text).length_outliers.empty());
  text.target[10] = std::string(300, 'b');
  text.source[20] = std::string(200, 'a');
  text.target[30] = "";  // empty, not an outlier
  const PairStatistics report = inspect_pairs(text);
  EXPECT_EQ(report.length_outliers, (std::vector<int64_t>{11, 21}));
  EXPECT_GT(report.median_length_ratio, 0.4);
  EXPECT_LT(report.median_length_ratio, 0.65);
  EXPECT_EQ(inspect_pairs({}).pairs, 0);
  EXPECT_EQ(inspect_pairs({{""}, {""}}).median_length_ratio, 0);
}

}  // namespace
}  // namespace glass
