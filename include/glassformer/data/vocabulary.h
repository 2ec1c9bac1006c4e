// Vocabularies: text to token numbers and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glass {

// The same in every vocabulary. PAD is distinct from EOS: padding never counts, EOS always does.
inline constexpr int32_t pad_token = 0, unknown_token = 1, bos_token = 2, eos_token = 3;
inline constexpr int32_t special_tokens = 4;

// A token and the bytes [begin, end) of the line that it stands for. Where the line was normalized first, those that
// became the token; none (begin == end) for a token that no byte became alone.
struct TokenSpan {
  int32_t token = 0;
  size_t begin = 0, end = 0;
  friend bool operator==(const TokenSpan&, const TokenSpan&) = default;
};

// Immutable once made; safe to use from several threads at once.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  virtual int32_t size() const = 0;
  // Without BOS and EOS.
  virtual std::vector<int32_t> encode(std::string_view line) const = 0;
  // The same tokens with their bytes of `line`, in rising order, without the blanks before a word.
  virtual std::vector<TokenSpan> encode_spans(std::string_view line) const = 0;
  // Skips PAD and BOS, stops at EOS.
  virtual std::string decode(const std::vector<int32_t>& tokens) const = 0;
  // The text of one token, for people: "▁dog", "</s>".
  virtual std::string piece(int32_t token) const = 0;
  // Bytes that load_vocabulary() takes.
  virtual std::string serialize() const = 0;
};

// Throws InputError for bytes that are not whole; memory stays in proportion to their number. Bytes that were changed
// with intent may make another vocabulary, never a crash.
std::shared_ptr<const Vocabulary> load_vocabulary(const std::string& bytes);

struct VocabularyOptions {
  std::string model = "unigram";       // unigram | bpe (SentencePiece: Kudo & Richardson, 2018) | word | char
  int32_t size = 8000;                 // special tokens included; words and characters: at most
  int32_t min_frequency = 2;           // words and characters only
  double character_coverage = 0.9995;  // of the text's characters, 0.98 to 1: small alphabets take 1; subwords only
  bool fewer_allowed = false;          // take what the text allows where it allows fewer than `size` subwords
  bool lowercase = false;              // fold the text first, when training and when encoding
  // Subwords only: nmt_nfkc | nfkc | nmt_nfkc_cf | nfkc_cf | identity. The last changes nothing but control characters,
  // which always become blanks; the others fold wide and compatible forms and runs of blanks.
  std::string normalization = "nmt_nfkc";
};

// Deterministic for the same lines and options. A shared vocabulary is one trained on the lines of both sides. Subwords
// are not learned from lines of more than 4192 bytes. Throws InputError for an option outside its range, for text with
// nothing to learn, and if the text does not allow so many subwords, saying how many it allows.
std::shared_ptr<const Vocabulary> train_vocabulary(const std::vector<std::string>& lines,
                                                   const VocabularyOptions& options);

}  // namespace glass
