#include "glassformer/data/vocabulary.h"

#include <algorithm>
#include <thread>

#include "data/files.h"
#include "glassformer/data/text.h"

namespace glass {
namespace {

using Lines = std::vector<std::string>;

const Lines& english() {
  static const Lines lines = read_tsv_pairs(source_path("data/tatoeba-en-zh/valid.tsv.gz")).source;
  return lines;
}

VocabularyOptions subwords(const std::string& model, int32_t size, const std::string& normalization = "nmt_nfkc") {
  VocabularyOptions options;
  options.model = model;
  options.size = size;
  options.character_coverage = 1;
  options.normalization = normalization;
  return options;
}

class SubwordTraining : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, SubwordTraining, ::testing::Values("unigram", "bpe"));

TEST_P(SubwordTraining, SizeAndSpecialTokens) {
  const auto vocabulary = train_vocabulary(english(), subwords(GetParam(), 300));
  EXPECT_EQ(vocabulary->size(), 300);
  EXPECT_EQ(vocabulary->piece(pad_token), "<pad>");
  EXPECT_EQ(vocabulary->piece(unknown_token), "<unk>");
  EXPECT_EQ(vocabulary->piece(bos_token), "<s>");
  EXPECT_EQ(vocabulary->piece(eos_token), "</s>");
  const auto tokens = vocabulary->encode("</s><pad> My foot.");  // text never makes a special token
  for (const int32_t token : tokens) EXPECT_TRUE(token == unknown_token || token >= special_tokens);
  EXPECT_TRUE(vocabulary->encode("").empty());
  EXPECT_TRUE(vocabulary->encode(" \t ").empty());
  EXPECT_EQ(vocabulary->decode({}), "");
}

TEST_P(SubwordTraining, DecodingSkipsPaddingAndStopsAtTheEnd) {
  const auto vocabulary = train_vocabulary(english(), subwords(GetParam(), 300));
  std::vector<int32_t> tokens = vocabulary->encode("He hurt his foot.");
  tokens.insert(tokens.begin(), {bos_token, pad_token});
  tokens.insert(tokens.end(), {eos_token, special_tokens, special_tokens + 1});
  EXPECT_EQ(vocabulary->decode(tokens), "He hurt his foot.");
  EXPECT_THROW(vocabulary->decode({vocabulary->size()}), ValueError);
  EXPECT_THROW(vocabulary->decode({-1}), ValueError);
  EXPECT_THROW(vocabulary->piece(-1), ValueError);
}

TEST_P(SubwordTraining, TheLargestSizeThatIsNamedWorks) {
  const std::string message = message_of([&] { train_vocabulary(english(), subwords(GetParam(), 100000)); });
  const std::string before = "the text allows at most ";
  ASSERT_TRUE(contains(message, before)) << message;
  const int32_t largest = std::stoi(message.substr(message.find(before) + before.size()));
  EXPECT_GT(largest, 300);
  EXPECT_EQ(train_vocabulary(english(), subwords(GetParam(), largest))->size(), largest);
  EXPECT_THROW(train_vocabulary(english(), subwords(GetParam(), largest + 1)), InputError);
  VocabularyOptions soft = subwords(GetParam(), 100000);
  soft.fewer_allowed = true;
  EXPECT_EQ(train_vocabulary(english(), soft)->size(), largest);
}

TEST_P(SubwordTraining, OptionsOutsideTheirRangeAreNamed) {
  const auto message = [&](auto change) {
    VocabularyOptions options = subwords(GetParam(), 300);
    change(options);
    return message_of([&] { train_vocabulary(english(), options); });
  };
  EXPECT_TRUE(contains(message([](auto& o) { o.size = 20; }), "characters alone need"));
  EXPECT_TRUE(contains(message([](auto& o) { o.size = 4; }), "4 are special tokens"));
  EXPECT_TRUE(contains(message([](auto& o) { o.size = -1; }), "4 are special tokens"));
  EXPECT_TRUE(contains(message([](auto& o) { o.character_coverage = 0.5; }), "outside of [0.98,1]"));
  EXPECT_TRUE(
      contains(message([](auto& o) { o.normalization = "nfd"; }), "unknown normalization \"nfd\"; use nmt_nfkc"));
  EXPECT_TRUE(contains(message([](auto& o) { o.model = "wordpiece"; }), "use unigram, bpe, word or char"));
}

// SentencePiece by itself would end the process for some of these.
TEST_P(SubwordTraining, TextWithNothingToLearnIsRefused) {
  for (const char* normalization : {"nmt_nfkc", "identity"}) {
    for (const Lines& lines :
         {Lines{}, Lines{""}, Lines{"  ", "\t"}, Lines{std::string("\0\0", 2)}, Lines{"\u3000\u200B\uFEFF"},
          Lines{"\u2581"}, Lines{"a \u2585"}, Lines{"\uFFFD"}, Lines{std::string(5000, 'a')}}) {
      EXPECT_TRUE(
          contains(message_of([&] { train_vocabulary(lines, subwords(GetParam(), 30, normalization)); }), "has text"));
    }
  }
}

TEST_P(SubwordTraining, NaughtyStringsTabsAndNulsAreText) {
  Lines lines = read_lines(source_path("tests/data/naughty-strings.txt"));
  lines.push_back(std::string("tab\tnul\0end", 11));
  lines.emplace_back(10000, 'x');
  VocabularyOptions options = subwords(GetParam(), 2000, "identity");
  options.fewer_allowed = true;
  const auto vocabulary = train_vocabulary(lines, options);
  for (const std::string& line : lines) {
    for (const int32_t token : vocabulary->encode(line)) EXPECT_LT(token, vocabulary->size());
  }
  EXPECT_EQ(vocabulary->decode(vocabulary->encode(lines[742])), "tab nul end");
  const std::string emoji = "\U0001F468\u200D\U0001F469 \u05E9\u05DC\u05D5\u05DD";
  EXPECT_NO_THROW(vocabulary->decode(vocabulary->encode(emoji)));
  EXPECT_NO_THROW(vocabulary->decode(vocabulary->encode("\xFF\xED\xA0\x80 a")));
}

TEST_P(SubwordTraining, NormalizationFoldsOrKeeps) {
  Lines lines = english();
  lines.push_back("Ａ ﬁ ① A  b fi 1");
  const std::string wide = "Ａ  ﬁ ①";
  const auto folding = train_vocabulary(lines, subwords(GetParam(), 300));
  EXPECT_EQ(folding->decode(folding->encode(wide)), "A fi 1");
  const auto keeping = train_vocabulary(lines, subwords(GetParam(), 300, "identity"));
  for (const std::string& line : {wide, std::string("  a  b "), english()[0]}) {
    EXPECT_EQ(keeping->decode(keeping->encode(line)), line);
  }
}

const Lines& both_sides() {
  static const Lines lines = [] {
    ParallelText text = read_tsv_pairs(source_path("data/tatoeba-en-zh/valid.tsv.gz"));
    text.source.insert(text.source.end(), text.target.begin(), text.target.end());
    return text.source;
  }();
  return lines;
}

class AnyVocabulary : public ::testing::TestWithParam<const char*> {
 protected:
  static std::shared_ptr<const Vocabulary> train() {
    return train_vocabulary(both_sides(), {GetParam(), 1600, 1, 1.0});
  }
};
INSTANTIATE_TEST_SUITE_P(Models, AnyVocabulary, ::testing::Values("unigram", "bpe", "word", "char"));

TEST_P(AnyVocabulary, TheSameTextGivesTheSameBytes) { EXPECT_EQ(train()->serialize(), train()->serialize()); }

TEST_P(AnyVocabulary, LoadedItEncodesAsBefore) {
  const auto vocabulary = train(), loaded = load_vocabulary(vocabulary->serialize());
  EXPECT_EQ(loaded->size(), vocabulary->size());
  for (size_t i = 0; i < 20; ++i) {
    const std::string& line = both_sides()[i];
    const auto tokens = vocabulary->encode(line);
    EXPECT_EQ(loaded->encode(line), tokens);
    EXPECT_EQ(vocabulary->decode(tokens), line);
    EXPECT_EQ(loaded->decode(tokens), line);
    for (const int32_t token : tokens) EXPECT_TRUE(token == unknown_token || token >= special_tokens);
  }
}

TEST_P(AnyVocabulary, EndsAtItsSizeAndDecodesUpToTheEnd) {
  const auto vocabulary = train();
  EXPECT_EQ(vocabulary->decode({bos_token, eos_token, special_tokens}), "");
  EXPECT_THROW(vocabulary->piece(vocabulary->size()), ValueError);
}

// What the spans of a line say, in its own bytes.
Lines parts_of(const Vocabulary& vocabulary, const std::string& line) {
  Lines parts;
  for (const TokenSpan& span : vocabulary.encode_spans(line))
    parts.push_back(line.substr(span.begin, span.end - span.begin));
  return parts;
}

std::vector<int32_t> tokens_of(const std::vector<TokenSpan>& spans) {
  std::vector<int32_t> tokens;
  for (const TokenSpan& span : spans) tokens.push_back(span.token);
  return tokens;
}

TEST_P(AnyVocabulary, SpansAreOfTheTokensInRisingOrder) {
  const auto vocabulary = train();
  for (std::string line : {"Tom  likes the dog.", "\tI  ", "", "ﬁsh！ １２３ \u4E00"}) {
    const std::vector<TokenSpan> spans = vocabulary->encode_spans(line);
    EXPECT_EQ(tokens_of(spans), vocabulary->encode(line)) << line;
    size_t end = 0;
    for (const TokenSpan& span : spans) {
      EXPECT_LE(end, span.begin) << line;
      EXPECT_LE(span.begin, span.end) << line;
      end = span.end;
    }
    EXPECT_LE(end, line.size());
  }
}

TEST(SubwordSpans, AreBytesBeforeNormalization) {
  VocabularyOptions options = subwords("unigram", 60);
  options.fewer_allowed = true;
  const auto vocabulary = train_vocabulary({"a b! a b! a ! b a"}, options);
  EXPECT_EQ(parts_of(*vocabulary, "ａ  b！"), (Lines{"ａ", "b", "！"}));  // wide forms fold, and runs of blanks
}

TEST(WordSpans, AreBytesBeforeFolding) {
  VocabularyOptions options{"word", 100, 1};
  EXPECT_EQ(parts_of(*train_vocabulary({"der Hund"}, options), " der  Hund"), (Lines{"der", "Hund"}));
  options.lowercase = true;
  const auto vocabulary = train_vocabulary({"der Hund"}, options);
  EXPECT_EQ(parts_of(*vocabulary, "\u0130I DER hund"), (Lines{"\u0130I", "DER", "hund"}));  // one byte more, folded
}

TEST(SubwordSharing, OneVocabularyOfBothSidesEncodesBoth) {
  const ParallelText text = read_tsv_pairs(source_path("data/tatoeba-en-zh/valid.tsv.gz"));
  Lines both = text.source;
  both.insert(both.end(), text.target.begin(), text.target.end());
  const auto shared = train_vocabulary(both, subwords("unigram", 1600));
  for (const Lines* side : {&text.source, &text.target}) {
    for (const std::string& line : *side) {
      const auto tokens = shared->encode(line);
      EXPECT_EQ(std::count(tokens.begin(), tokens.end(), unknown_token), 0) << line;
    }
  }
}

TEST(SubwordSharing, ThreadsMayEncodeAndDecodeAtOnce) {
  const auto vocabulary = train_vocabulary(english(), subwords("unigram", 300));
  std::vector<std::vector<int32_t>> expected;
  for (const std::string& line : english()) expected.push_back(vocabulary->encode(line));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < english().size(); ++i) {
        const auto tokens = vocabulary->encode(english()[i]);
        count += tokens != expected[i] || vocabulary->decode(tokens) != vocabulary->decode(expected[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>{0, 0, 0, 0}));
}

TEST(WordVocabulary, MostFrequentFirstFromMinFrequencyOn) {
  VocabularyOptions options{"word", 100, 2};
  const Lines lines{"b a\tc  a", "c b a d", ""};
  const auto vocabulary = train_vocabulary(lines, options);
  EXPECT_EQ(vocabulary->size(), special_tokens + 3);
  EXPECT_EQ(vocabulary->piece(4), "a");
  EXPECT_EQ(vocabulary->piece(5), "b");  // as often as c: by their bytes
  EXPECT_EQ(vocabulary->encode(" c d\ta "), (std::vector<int32_t>{6, unknown_token, 4}));
  EXPECT_EQ(vocabulary->decode({6, unknown_token, 4}), "c <unk> a");
  options.size = 5;
  EXPECT_EQ(train_vocabulary(lines, options)->size(), 5);
  options.min_frequency = 9;
  EXPECT_TRUE(
      contains(message_of([&] { train_vocabulary(lines, options); }), "no word that occurs data.min_frequency = 9"));
  options.size = 4;
  EXPECT_TRUE(contains(message_of([&] { train_vocabulary(lines, options); }), "special tokens"));
}

TEST(WordVocabulary, FoldingToLowerCaseIsPartOfIt) {
  VocabularyOptions options{"word", 100, 1};
  options.lowercase = true;
  const auto vocabulary = load_vocabulary(train_vocabulary({"Der Hund der"}, options)->serialize());
  EXPECT_EQ(vocabulary->size(), special_tokens + 2);
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("DER hund")), "der hund");
}

TEST(CharacterVocabulary, RoundTripsWhateverItHasSeen) {
  Lines lines = read_lines(source_path("tests/data/naughty-strings.txt"));
  lines.push_back(std::string("a\0b\t", 4));
  const auto vocabulary = load_vocabulary(train_vocabulary(lines, {"char", 100000, 1})->serialize());
  for (const std::string& line : lines) EXPECT_EQ(vocabulary->decode(vocabulary->encode(line)), line);
  EXPECT_EQ(vocabulary->encode("\u4E00\u4E8C").size(), 2u);
}

}  // namespace
}  // namespace glass
