// Bytes of a tokenizer that somebody else made: an error or a vocabulary that works, never a crash.
#include "data/files.h"
#include "glassformer/base/random.h"
#include "glassformer/data/text.h"
#include "glassformer/data/vocabulary.h"

namespace glass {
namespace {

std::string serialized(const std::string& model, const std::string& normalization) {
  VocabularyOptions options;
  options.model = model;
  options.size = 120;
  options.min_frequency = 1;
  options.character_coverage = 1;
  options.normalization = normalization;
  return train_vocabulary(read_tsv_pairs(source_path("data/tatoeba-en-zh/valid.tsv.gz")).source, options)->serialize();
}

// Whether the bytes are taken; if so, all that can be asked is asked.
bool loads_and_works(const std::string& bytes) {
  std::shared_ptr<const Vocabulary> vocabulary;
  try {
    vocabulary = load_vocabulary(bytes);
  } catch (const InputError&) {
    return false;
  }
  EXPECT_LE(static_cast<size_t>(vocabulary->size()), bytes.size() + special_tokens);
  for (const char* line : {"He hurt ﬁ Ａ１ é½ ㍿ \u0301", "\xFF\xED\xA0\x80 \U0001F600"}) {
    for (const int32_t token : vocabulary->encode(line)) {
      EXPECT_GE(token, 0);
      EXPECT_LT(token, vocabulary->size());
    }
  }
  std::vector<int32_t> all;
  for (int32_t token = 0; token < vocabulary->size(); ++token) {
    vocabulary->piece(token);
    if (token != eos_token) all.push_back(token);
  }
  vocabulary->decode(all);
  return true;
}

struct Kind {
  const char *model, *normalization;
};

class DamagedVocabulary : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, DamagedVocabulary,
                         ::testing::Values(Kind{"unigram", "identity"}, Kind{"bpe", "identity"}, Kind{"word", ""},
                                           Kind{"char", ""}));

TEST_P(DamagedVocabulary, CutAtEveryByte) {
  const std::string whole = serialized(GetParam().model, GetParam().normalization);
  ASSERT_TRUE(loads_and_works(whole));
  for (size_t length = 0; length < whole.size(); ++length) loads_and_works(whole.substr(0, length));
  EXPECT_THROW(load_vocabulary(whole.substr(0, whole.size() - 1)), InputError);
}

TEST_P(DamagedVocabulary, EveryBitFlipped) {
  const std::string whole = serialized(GetParam().model, GetParam().normalization);
  size_t refused = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    if (!loads_and_works(flipped)) ++refused;
  }
  EXPECT_GT(refused, whole.size());  // a length that does not fit, a type that is not known
}

TEST_P(DamagedVocabulary, BytesAppended) {
  const std::string whole = serialized(GetParam().model, GetParam().normalization);
  EXPECT_FALSE(loads_and_works(whole + std::string(1, '\0')));
  EXPECT_FALSE(loads_and_works(whole + "\xFF\xFF\xFF\xFF"));
}

// The normalization table makes most of a model's bytes; SentencePiece follows it without looking.
class DamagedNormalization : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Rules, DamagedNormalization, ::testing::Values("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"));

TEST_P(DamagedNormalization, IsFoundBeforeItIsFollowed) {
  const std::string whole = serialized("unigram", GetParam());
  ASSERT_TRUE(loads_and_works(whole));
  Random random(7);
  int refused = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::string damaged = whole;
    for (int change = 0; change < 1 << trial % 12; ++change)
      damaged[random.below(whole.size())] = static_cast<char>(random.bits());
    if (!loads_and_works(damaged)) ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST_P(DamagedNormalization, CutInManyPlaces) {
  const std::string whole = serialized("unigram", GetParam());
  for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60)
    loads_and_works(whole.substr(0, length));
}

// Places of the table: its length, then the trie's units, of which the first is the root.
TEST_P(DamagedNormalization, RootLengthAndEndAreChecked) {
  const std::string whole = serialized("unigram", GetParam());
  const size_t name = whole.rfind(std::string("\x0A") + static_cast<char>(std::string(GetParam()).size()) + GetParam());
  ASSERT_NE(name, std::string::npos);
  size_t table = name + 2 + std::string(GetParam()).size() + 1;  // the field's key
  while (static_cast<unsigned char>(whole[table++]) >= 0x80) {
  }  // and its length
  const auto refused_with = [&](size_t place, const std::string& bytes, const char* reason) {
    std::string damaged = whole;
    damaged.replace(place, bytes.size(), bytes);
    return contains(message_of([&] { load_vocabulary(damaged); }), reason);
  };
  EXPECT_TRUE(refused_with(table, "\xFF\xFF\xFF\x7F", "table's size"));
  EXPECT_TRUE(refused_with(table, std::string(4, '\0'), "table's size"));
  EXPECT_TRUE(refused_with(table + 4, std::string("\0\xFE\xFF\x7F", 4), "leads outside"));
}

TEST(HostileVocabulary, LengthsBeyondTheInputAreRefused) {
  for (const char* bytes :
       {"W999999999:a", "C9:short", "W1a", "W:", "W-1:a", "W0:", "C1:a1:a", "LL", "L", "LW9:a", "S", "\n", "", "Xyz"}) {
    EXPECT_THROW(load_vocabulary(bytes), InputError) << bytes;
  }
  EXPECT_THROW(load_vocabulary("S\x0A\xFF\xFF\xFF\xFF\x0F"), InputError);  // a piece of 4 GiB
  EXPECT_THROW(load_vocabulary("S" + std::string(20, '\xFF')), InputError);
  std::string nested = "W1:a";
  for (int i = 0; i < 100000; ++i) nested.insert(nested.begin(), 'L');
  EXPECT_THROW(load_vocabulary(nested), InputError);
}

}  // namespace
}  // namespace glass
