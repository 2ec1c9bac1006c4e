// Subwords by SentencePiece.
#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <exception>
#include <unordered_map>

#include "data/sentencepiece_check.h"
#include "data/vocabulary_kinds.h"
#include "glassformer/base/error.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

// SentencePiece has meanings of its own for tabs and other control characters, and refuses NUL; none of them is a word.
std::string without_controls(std::string_view line) {
  std::string clean(line);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return clean;
}

// A piece that begins a word has the blanks before it; a piece of blanks alone keeps them.
TokenSpan without_blanks(const std::string& line, TokenSpan span) {
  const size_t text = line.find_first_not_of(' ', span.begin);
  if (text < span.end) span.begin = text;
  return span;
}

class SentencePieceVocabulary : public Vocabulary {
 public:
  explicit SentencePieceVocabulary(std::string model) : model_(std::move(model)) {
    check_sentencepiece_model(model_);
    if (!load() || processor_.pad_id() != pad_token || processor_.unk_id() != unknown_token ||
        processor_.bos_id() != bos_token || processor_.eos_id() != eos_token) {
      throw InputError("tokenizer: the bytes are not a SentencePiece model of this program");
    }
  }

  int32_t size() const override { return processor_.GetPieceSize(); }

  std::vector<int32_t> encode(std::string_view line) const override {
    std::vector<int> ids;
    const std::string clean = without_controls(line);
    const auto status = processor_.Encode({clean.data(), clean.size()}, &ids);
    if (!status.ok()) throw InputError("tokenizer: " + status.ToString());
    return {ids.begin(), ids.end()};
  }

  std::vector<TokenSpan> encode_spans(std::string_view line) const override {
    const std::string clean = without_controls(line);  // as many bytes as before
    const auto pieces = processor_.EncodeAsImmutableProto({clean.data(), clean.size()});
    std::vector<TokenSpan> spans;
    for (size_t i = 0; i < pieces.pieces_size(); ++i) {
      const auto piece = pieces.pieces(static_cast<int>(i));
      spans.push_back(without_blanks(clean, {static_cast<int32_t>(piece.id()), piece.begin(), piece.end()}));
    }
    return spans;
  }

  std::string decode(const std::vector<int32_t>& tokens) const override {
    std::vector<int> ids;
    for (const int32_t token : tokens) {
      if (token == eos_token) break;
      if (token != pad_token && token != bos_token) ids.push_back(checked(token));
    }
    std::string text;
    const auto status = processor_.Decode(ids, &text);
    if (!status.ok()) throw InputError("tokenizer: " + status.ToString());
    return text;
  }

  std::string piece(int32_t token) const override { return processor_.IdToPiece(checked(token)); }
  std::string serialize() const override { return sentencepiece_kind + model_; }

 private:
  // Pieces that no index can be built of make it throw a type of its own.
  bool load() {
    try {
      return processor_.LoadFromSerializedProto(model_).ok();
    } catch (const std::exception&) {
      return false;
    }
  }

  int checked(int32_t token) const {
    if (token < 0 || token >= size()) {
      throw ValueError("tokenizer: token " + std::to_string(token) + " is outside of [0," + std::to_string(size()) +
                       ")");
    }
    return token;
  }

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
};

// Gives SentencePiece the lines.
class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string>& lines) : lines_(lines) { clean(); }
  bool done() const override { return next_ == lines_.size(); }
  void Next() override {
    ++next_;
    clean();
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void clean() {
    if (!done()) line_ = without_controls(lines_[next_]);
  }

  const std::vector<std::string>& lines_;
  size_t next_ = 0;
  std::string line_;
};

void check_options(const VocabularyOptions& options) {
  constexpr std::array normalizations = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"};
  if (options.size <= special_tokens) {
    throw InputError(fmt::format("vocabulary of {} subwords: {} are special tokens; set data.vocab_size to more",
                                 options.size, special_tokens));
  }
  if (!(options.character_coverage >= 0.98 && options.character_coverage <= 1)) {
    throw InputError(
        fmt::format("vocabulary: character coverage {} is outside of [0.98,1]", options.character_coverage));
  }
  if (std::find(normalizations.begin(), normalizations.end(), options.normalization) == normalizations.end()) {
    throw InputError(fmt::format("vocabulary: unknown normalization \"{}\"; use {}", options.normalization,
                                 fmt::join(normalizations, ", ")));
  }
}

constexpr size_t longest_line = 4192;  // bytes; SentencePiece skips longer ones

// Whether some character of the line stays when it is normalized. Not those that only part, format or stand for others.
bool has_text(const std::string& line) {
  constexpr char32_t blank_mark = 0x2581, unknown_mark = 0x2585, replacement = 0xFFFD;
  if (line.size() > longest_line) return false;
  bool visible = false;
  for (const char32_t c : to_code_points(line)) {
    if (c == unknown_mark) return false;  // SentencePiece skips the line
    visible |= c != blank_mark && c != replacement &&
               (is_letter_or_mark(c) || is_punctuation(c) || is_number(c) || is_symbol(c));
  }
  return visible;
}

// SentencePiece ends the process where no character is left to learn.
void check_text(const std::vector<std::string>& lines) {
  if (std::any_of(lines.begin(), lines.end(), has_text)) return;
  throw InputError(
      fmt::format("vocabulary: none of the {} lines has text to learn subwords from (lines of more than {} "
                  "bytes are left out; split them)",
                  lines.size(), longest_line));
}

// Identity keeps every blank, so that what is decoded is what was encoded.
std::unordered_map<std::string, std::string> trainer_arguments(const VocabularyOptions& options) {
  return {{"model_type", options.model},
          {"vocab_size", std::to_string(options.size)},
          {"character_coverage", fmt::format("{}", options.character_coverage)},
          {"normalization_rule_name", options.normalization},
          {"remove_extra_whitespaces", options.normalization == "identity" ? "false" : "true"},
          {"pad_id", std::to_string(pad_token)},
          {"unk_id", std::to_string(unknown_token)},
          {"bos_id", std::to_string(bos_token)},
          {"eos_id", std::to_string(eos_token)},
          {"num_threads", "1"},  // its result may depend on them
          {"minloglevel", "2"},
          {"hard_vocab_limit", options.fewer_allowed ? "false" : "true"}};
}

// The digits of `text` after `before`; empty if there are none.
std::string number_after(const std::string& text, const std::string& before) {
  const size_t place = text.find(before);
  if (place == std::string::npos) return {};
  const size_t begin = place + before.size();
  return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
}

[[noreturn]] void explain_failure(const std::string& reason, const VocabularyOptions& options) {
  const std::string what = fmt::format("vocabulary of {} subwords", options.size);
  if (const std::string largest = number_after(reason, "to a value <= "); !largest.empty()) {
    throw InputError(what + ": the text allows at most " + largest +
                     "; set data.vocab_size to that or less, or data.vocab_fewer = true");
  }
  if (const std::string needed = number_after(reason, fmt::format("required_chars. {} vs ", options.size));
      !needed.empty()) {
    throw InputError(what + ": the text's characters alone need " + needed +
                     "; set data.vocab_size to more than that, or lower data.character_coverage");
  }
  throw InputError(what + " cannot be made from this text: " + reason);
}

}  // namespace

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      const VocabularyOptions& options) {
  check_options(options);
  check_text(lines);
  LineIterator iterator(lines);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(trainer_arguments(options), &iterator, &model);
  if (!status.ok()) explain_failure(status.ToString(), options);
  return std::make_shared<SentencePieceVocabulary>(std::move(model));
}

std::shared_ptr<const Vocabulary> load_sentencepiece(const std::string& payload) {
  return std::make_shared<SentencePieceVocabulary>(payload);
}

}  // namespace glass
