#include "glassformer/decode/tokenizers.h"

#include <gtest/gtest.h>

#include "glassformer/base/error.h"
#include "glassformer/data/unicode.h"

namespace glass {
namespace {

// The tokens joined by single spaces.
std::string tokens(BleuTokenizer tokenizer, std::string_view line, bool lowercase = false) {
  std::string joined;
  for (const auto& token : bleu_tokenize(tokenizer, line, lowercase)) {
    if (!joined.empty()) joined += ' ';
    joined += to_utf8(token);
  }
  return joined;
}

TEST(BleuTokenizer, V13aSplitsAsciiPunctuationButNotInsideNumbers) {
  EXPECT_EQ(tokens(BleuTokenizer::v13a, "Hello, world! (It's 1,000.50.)"), "Hello , world ! ( It's 1,000.50 . )");
  EXPECT_EQ(tokens(BleuTokenizer::v13a, "1-2 well-known U.S."), "1 - 2 well-known U . S .");
  EXPECT_EQ(tokens(BleuTokenizer::v13a, "&quot;a&quot; &amp;lt;b"), "\" a \" < b");
  EXPECT_EQ(tokens(BleuTokenizer::v13a, "x<skipped>y"), "xy");
  EXPECT_EQ(tokens(BleuTokenizer::v13a, "«naïve»"), "«naïve»");
}

TEST(BleuTokenizer, ZhMakesEachChineseCharacterAToken) {
  EXPECT_EQ(tokens(BleuTokenizer::zh, "我有3.5个iPhone。"), "我 有 3.5 个 iPhone 。");
  EXPECT_EQ(tokens(BleuTokenizer::zh, "한국어 カタカナ"), "한국어 カタカナ");
  // Beyond the basic plane nothing is apart: the definition's ranges there end up elsewhere.
  EXPECT_EQ(tokens(BleuTokenizer::zh, "𠀀𠀁"), "𠀀𠀁");
  EXPECT_EQ(tokens(BleuTokenizer::zh, "&amp;"), "& amp ;");
}

TEST(BleuTokenizer, IntlSplitsUnicodePunctuationAndSymbols) {
  EXPECT_EQ(tokens(BleuTokenizer::intl, "«ça» coûte 5€, “x”."), "« ça » coûte 5 € , “ x ” .");
  EXPECT_EQ(tokens(BleuTokenizer::intl, "1,000 and 1٫5"), "1,000 and 1٫5");
  EXPECT_EQ(tokens(BleuTokenizer::intl, "in 1999."), "in 1999.");  // as mteval-v14 has it: no space follows
}

TEST(BleuTokenizer, CharMakesEachCharacterATokenAndNoneSplitsAtSpaces) {
  EXPECT_EQ(tokens(BleuTokenizer::chars, "ab 汤👍"), "a b 汤 👍");
  EXPECT_EQ(tokens(BleuTokenizer::none, "a,b\u3000c\td\u200be"), "a,b c d\u200be");
}

TEST(BleuTokenizer, EmptyAndBlankLinesHaveNoToken) {
  for (const char* name : {"13a", "zh", "char", "intl", "none"}) {
    EXPECT_TRUE(bleu_tokenize(bleu_tokenizer_from_name(name), "", false).empty()) << name;
    EXPECT_TRUE(bleu_tokenize(bleu_tokenizer_from_name(name), " \t\u00a0\u3000", false).empty()) << name;
  }
}

TEST(BleuTokenizer, TokensOfTokensAreTheSame) {
  const std::string line = "He said: \"No, 3.14 is π!\" — 好的。";
  for (const char* name : {"13a", "zh", "char", "none"}) {
    const BleuTokenizer tokenizer = bleu_tokenizer_from_name(name);
    const std::string once = tokens(tokenizer, line);
    EXPECT_EQ(tokens(tokenizer, once), once) << name;
  }
}

TEST(BleuTokenizer, LowersCaseWithContext) {
  EXPECT_EQ(tokens(BleuTokenizer::none, "ΟΔΟΣ ΣΑΣ: İ ẞ", true), "οδος σας: i\u0307 ß");
  // U+00AA is cased though no letter has it as its case; a soft hyphen and a colon do not end a word.
  EXPECT_EQ(tokens(BleuTokenizer::none, "ªΣ ΑΣ\u00adΑ ΑΣ:Α", true), "ªς ασ\u00adα ασ:α");
}

TEST(BleuTokenizer, InvalidBytesBecomeReplacementCharacters) {
  // One for each maximal part of a sequence: a cut three-byte character, a lone continuation, a surrogate's three
  // bytes.
  EXPECT_EQ(tokens(BleuTokenizer::chars,
                   "a\xE6\xB1"
                   "b\x80\xED\xA0\x80"),
            "a \uFFFD b \uFFFD \uFFFD \uFFFD \uFFFD");
}

TEST(BleuTokenizer, NamesGoBothWays) {
  for (const char* name : {"13a", "zh", "char", "intl", "none"}) {
    EXPECT_EQ(bleu_tokenizer_name(bleu_tokenizer_from_name(name)), name);
  }
  EXPECT_THROW(bleu_tokenizer_from_name("moses"), InputError);
}

}  // namespace
}  // namespace glass
