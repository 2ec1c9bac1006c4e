#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "glassformer/base/error.h"
#include "glassformer/data/batches.h"
#include "glassformer/data/series.h"
#include "glassformer/data/text.h"
#include "glassformer/data/unicode.h"
#include "glassformer/data/vocabulary.h"

namespace glass {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("glass_data_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(Files, LinesOfEveryKind) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(read_lines(put("a", "\xEF\xBB\xBFone\r\ntwo\n\nthree")), (Lines{"one", "two", "", "three"}));
  const std::string odd = std::string("nul\0nul", 7) + "\u2028\u0085\v\f\ttab 😀 שלום";
  EXPECT_EQ(read_lines(put("b", odd + "\n" + odd)), (Lines{odd, odd}));
  gzFile archive = gzopen((folder_ / "c.gz").c_str(), "wb");
  gzputs(archive, "eins\nzwei\n");
  gzclose(archive);
  EXPECT_EQ(read_lines((folder_ / "c.gz").string()), (Lines{"eins", "zwei"}));
  const std::string long_line(300000, 'x');
  EXPECT_EQ(read_lines(put("d", long_line + "\ny\n")), (Lines{long_line, "y"}));
}

TEST_F(Files, BadFilesAreNamed) {
  EXPECT_NE(input_error([&] { read_lines("/nonexistent/x"); }).find("/nonexistent/x"), std::string::npos);
  EXPECT_NE(input_error([&] { read_lines(folder_.string()); }).find("folder"), std::string::npos);
  EXPECT_NE(input_error([&] { read_lines(put("e", "")); }).find("empty"), std::string::npos);
  const std::string bad = put("f", "fine\nbad \xC3\x28 bad\n");
  EXPECT_NE(input_error([&] { read_lines(bad); }).find(bad + ":2"), std::string::npos);
  EXPECT_NE(input_error([&] { read_lines(bad); }).find("--replace-invalid"), std::string::npos);
  EXPECT_EQ(read_lines(bad, InvalidUtf8::replace)[1], "bad \uFFFD( bad");
  const std::string three = put("g", "1\n2\n3\n"), two = put("h", "1\n2\n");
  const std::string counts = input_error([&] { read_pairs(three, two); });
  EXPECT_NE(counts.find("3 lines"), std::string::npos);
  EXPECT_NE(counts.find("has 2"), std::string::npos);
  EXPECT_NE(input_error([&] { read_tsv_pairs(put("i", "a\tb\nc\n")); }).find(":2"), std::string::npos);
  // A damaged archive.
  gzFile archive = gzopen((folder_ / "j.gz").c_str(), "wb");
  for (int i = 0; i < 1000; ++i) gzprintf(archive, "line %d\n", i * i);
  gzclose(archive);
  std::filesystem::resize_file(folder_ / "j.gz", 500);
  EXPECT_NE(input_error([&] { read_lines((folder_ / "j.gz").string()); }).find("damaged"), std::string::npos);
}

TEST(Utf8, StrictAndReplacedByMaximalParts) {
  for (const char* valid : {"", "a", "é", "€", "😀", "\xF4\x8F\xBF\xBF"}) EXPECT_EQ(valid_utf8_prefix(valid), std::string(valid).size());
  for (const char* invalid : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xFE"}) {
    EXPECT_EQ(valid_utf8_prefix(invalid), 0u) << invalid;
  }
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82x"), "\uFFFDx");           // one cut-off sequence
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(to_utf8(to_code_points("aé€😀")), "aé€😀");
  EXPECT_EQ(lowercase("ÀΣΟΦΟΣ İ"), "àσοφος i̇");
}

TEST_F(Files, TheBundledSplitDoesNotLeak) {
  const std::string folder = std::string(GLASSFORMER_SOURCE_DIR) + "/data/tatoeba-en-zh/";
  const ParallelText train = read_tsv_pairs(folder + "train.tsv.gz");
  const std::set<std::string> source(train.source.begin(), train.source.end()), target(train.target.begin(), train.target.end());
  EXPECT_EQ(train.size(), 27020u);
  std::set<std::string> held;
  for (const char* part : {"valid.tsv.gz", "test.tsv.gz"}) {
    const ParallelText text = read_tsv_pairs(folder + part);
    for (size_t i = 0; i < text.size(); ++i) {
      EXPECT_EQ(source.count(text.source[i]) + target.count(text.target[i]), 0u);
      EXPECT_TRUE(held.insert(text.source[i]).second);
      EXPECT_TRUE(held.insert(text.target[i]).second);
    }
  }
}

TEST(Split, ByDistinctSentence) {
  ParallelText text;
  for (int i = 0; i < 300; ++i) {
    text.source.push_back("s" + std::to_string(i / 2));
    text.target.push_back("t" + std::to_string(i / 3));
  }
  const SplitText split = split_by_distinct_sentence(text, 0.1, 1);
  EXPECT_EQ(split.valid.size(), 30u);
  EXPECT_EQ(split.train.size() + split.valid.size() + split.left_out, 300u);
  const std::set<std::string> source(split.train.source.begin(), split.train.source.end());
  const std::set<std::string> target(split.train.target.begin(), split.train.target.end());
  for (size_t i = 0; i < split.valid.size(); ++i) {
    EXPECT_FALSE(source.count(split.valid.source[i]));
    EXPECT_FALSE(target.count(split.valid.target[i]));
  }
  EXPECT_EQ(split_by_distinct_sentence(text, 0.1, 1).valid.source, split.valid.source);
  EXPECT_NE(split_by_distinct_sentence(text, 0.1, 2).valid.source, split.valid.source);
}

std::vector<std::string> sample_text() {
  const std::string folder = std::string(GLASSFORMER_SOURCE_DIR) + "/data/tatoeba-en-zh/";
  ParallelText text = read_tsv_pairs(folder + "valid.tsv.gz");
  text.source.insert(text.source.end(), text.target.begin(), text.target.end());
  return text.source;
}

class Vocabularies : public ::testing::TestWithParam<const char*> {};

TEST_P(Vocabularies, RoundTripSerializeAndSurviveDamage) {
  const std::vector<std::string> lines = sample_text();
  VocabularyOptions options{GetParam(), 1600, 1, 1.0};
  const auto vocabulary = train_vocabulary(lines, options);
  EXPECT_EQ(train_vocabulary(lines, options)->serialize(), vocabulary->serialize());
  const std::string bytes = vocabulary->serialize();
  const auto loaded = load_vocabulary(bytes);
  EXPECT_EQ(loaded->size(), vocabulary->size());
  for (size_t i = 0; i < 20; ++i) {
    const auto tokens = vocabulary->encode(lines[i]);
    EXPECT_EQ(loaded->encode(lines[i]), tokens);
    EXPECT_EQ(vocabulary->decode(tokens), lines[i]);
    for (const int32_t token : tokens) EXPECT_TRUE(token >= special_tokens || token == unknown_token);
  }
  EXPECT_EQ(vocabulary->decode({bos_token, eos_token, special_tokens}), "");
  EXPECT_THROW(vocabulary->piece(vocabulary->size()), ValueError);
  for (size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 60) {
    try {
      load_vocabulary(bytes.substr(0, length));  // a list may happen to end between entries
    } catch (const InputError&) {
    }
  }
  EXPECT_THROW(load_vocabulary(""), InputError);
  EXPECT_THROW(load_vocabulary("Xyz"), InputError);
  EXPECT_THROW(load_vocabulary("W99999999:a"), InputError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Vocabularies, ::testing::Values("unigram", "bpe", "word", "char"));

TEST(Vocabulary, TooLargeSaysHowLarge) {
  VocabularyOptions options{"unigram", 50000, 1, 0.9995};
  EXPECT_NE(input_error([&] { train_vocabulary(sample_text(), options); }).find("allows at most"), std::string::npos);
  options.fewer_allowed = true;
  EXPECT_LT(train_vocabulary(sample_text(), options)->size(), 50000);
}

TEST(Vocabulary, LowercaseIsPartOfIt) {
  VocabularyOptions options{"word", 100, 1};
  options.lowercase = true;
  const auto vocabulary = load_vocabulary(train_vocabulary({"Der Hund der"}, options)->serialize());
  EXPECT_EQ(vocabulary->size(), special_tokens + 2);
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("DER hund")), "der hund");
}

std::vector<Example> made_up_examples(int count) {
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) {
    examples.push_back({std::vector<int32_t>(static_cast<size_t>(1 + i * 7 % 23), 5), std::vector<int32_t>(static_cast<size_t>(2 + i * 5 % 19), 6), i + 1});
  }
  return examples;
}

TEST(Batches, EveryExampleOnceAndNoBudgetExceeded) {
  const auto examples = made_up_examples(7000);
  const auto plan = plan_epoch(examples, {200, 0}, 1, 0);
  std::set<int64_t> seen;
  for (const auto& rows : plan) {
    size_t longest = 0;
    for (const int64_t row : rows) {
      EXPECT_TRUE(seen.insert(row).second);
      longest = std::max({longest, examples[static_cast<size_t>(row)].source.size(), examples[static_cast<size_t>(row)].target.size()});
    }
    EXPECT_LE(longest * rows.size(), 200u);
  }
  EXPECT_EQ(seen.size(), examples.size());
  EXPECT_EQ(plan_epoch(examples, {200, 0}, 1, 0), plan);
  EXPECT_NE(plan_epoch(examples, {200, 0}, 1, 1), plan);
  EXPECT_NE(plan_epoch(examples, {200, 0}, 2, 0), plan);
  for (const auto& rows : plan_epoch(examples, {0, 16}, 1, 0)) EXPECT_LE(rows.size(), 16u);
}

TEST(Batches, ShiftedTargetsAndPadding) {
  const TranslationBatch batch = make_batch({{{7, 8, eos_token}, {bos_token, 9, eos_token}, 1}, {{7, eos_token}, {bos_token, 4, 5, eos_token}, 2}}, {0, 1});
  EXPECT_EQ(batch.source.to_vector(), (std::vector<double>{7, 8, 3, 7, 3, 0}));
  EXPECT_EQ(batch.target_input.to_vector(), (std::vector<double>{2, 9, 0, 2, 4, 5}));
  EXPECT_EQ(batch.target_output.to_vector(), (std::vector<double>{9, 3, 0, 4, 5, 3}));
  EXPECT_EQ(batch.target_tokens, 5);
  EXPECT_EQ(batch.source_lengths.to_vector(), (std::vector<double>{3, 2}));
}

TEST(Batches, LongLinesAreSkippedOrCutAndCounted) {
  const auto words = train_vocabulary({"a b c d e f"}, {"word", 100, 1});
  const std::vector<std::string> source{"a b", "a b c d e", ""}, target{"a", "b", "c"};
  const ExampleSet skipped = make_examples(source, target, *words, *words, 4, LongLines::skip);
  EXPECT_EQ(skipped.examples.size(), 1u);
  EXPECT_EQ(skipped.too_long, 1);
  EXPECT_EQ(skipped.empty, 1);
  const ExampleSet cut = make_examples(source, target, *words, *words, 4, LongLines::cut);
  ASSERT_EQ(cut.examples.size(), 2u);
  EXPECT_EQ(cut.examples[1].source.size(), 4u);  // three words and EOS
  EXPECT_EQ(cut.examples[1].line, 2);
}

TEST_F(Files, CsvColumnsAndErrors) {
  const std::string good = put("k.csv", "date,a,\"b, c\"\n2020-01-01,1,2\n2020-01-02,3,4.5\n");
  EXPECT_EQ(read_csv(good, {}).columns, (std::vector<std::string>{"a", "b, c"}));
  EXPECT_EQ(read_csv(good, {"b, c"}).rows[1], (std::vector<double>{4.5}));
  EXPECT_EQ(read_csv(put("l.csv", "1,2\n3,4\n"), {"2"}).rows.size(), 2u);
  EXPECT_NE(input_error([&] { read_csv(good, {"x"}); }).find("no column \"x\""), std::string::npos);
  EXPECT_NE(input_error([&] { read_csv(put("m.csv", "a\n1\n\n2\n"), {}); }).find(":3"), std::string::npos);
  EXPECT_NE(input_error([&] { read_csv(put("n.csv", "a\n1\nnan\n"), {}); }).find(":3"), std::string::npos);
}

TEST(Windows, NoneIsDropped) {
  Series series{{"x"}, {}};
  for (int i = 0; i < 20; ++i) series.rows.push_back({static_cast<double>(i)});
  const Windows windows = make_windows(series, 0, 20, 5, 3, {10}, {2});
  EXPECT_EQ(windows.count(), 13);
  EXPECT_EQ(windows.history.at({12, 4, 0}), (16 - 10) / 2.0);
  EXPECT_EQ(windows.future.at({12, 2, 0}), (19 - 10) / 2.0);
  EXPECT_THROW(make_windows(series, 0, 7, 5, 3, {0}, {1}), InputError);
}

}  // namespace
}  // namespace glass
