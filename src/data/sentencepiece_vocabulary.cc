// Subwords by SentencePiece.
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <regex>
#include <unordered_map>

#include "data/vocabulary_kinds.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

class SentencePieceVocabulary : public Vocabulary {
 public:
  explicit SentencePieceVocabulary(std::string model) : model_(std::move(model)) {
    if (!processor_.LoadFromSerializedProto(model_).ok() || processor_.pad_id() != pad_token ||
        processor_.unk_id() != unknown_token || processor_.bos_id() != bos_token || processor_.eos_id() != eos_token) {
      throw InputError("tokenizer: the bytes are not a SentencePiece model of this program");
    }
  }

  int32_t size() const override { return processor_.GetPieceSize(); }

  std::vector<int32_t> encode(std::string_view line) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode({line.data(), line.size()}, &ids);
    if (!status.ok()) throw InputError("tokenizer: " + status.ToString());
    return {ids.begin(), ids.end()};
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
  int checked(int32_t token) const {
    if (token < 0 || token >= size()) {
      throw ValueError("tokenizer: token " + std::to_string(token) + " is outside of [0," + std::to_string(size()) + ")");
    }
    return token;
  }

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
};

// Gives SentencePiece the lines. It has meanings of its own for tabs and control characters; none of them is a word.
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
    if (done()) return;
    line_ = lines_[next_];
    std::replace_if(line_.begin(), line_.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  }

  const std::vector<std::string>& lines_;
  size_t next_ = 0;
  std::string line_;
};

std::unordered_map<std::string, std::string> trainer_arguments(const VocabularyOptions& options) {
  return {{"model_type", options.model},
          {"vocab_size", std::to_string(options.size)},
          {"character_coverage", std::to_string(options.character_coverage)},
          {"normalization_rule_name", options.normalization},
          {"pad_id", std::to_string(pad_token)},
          {"unk_id", std::to_string(unknown_token)},
          {"bos_id", std::to_string(bos_token)},
          {"eos_id", std::to_string(eos_token)},
          {"num_threads", "1"},  // its result may depend on them
          {"minloglevel", "2"},
          {"hard_vocab_limit", options.fewer_allowed ? "false" : "true"}};
}

[[noreturn]] void explain_failure(const std::string& reason, const VocabularyOptions& options) {
  std::smatch found;
  static const std::regex largest("(<=|lower than|smaller than)\\s*(\\d+)");
  if (std::regex_search(reason, found, largest)) {
    throw InputError("vocabulary of " + std::to_string(options.size) + " subwords: the text allows at most " +
                     found[2].str() + "; set data.vocab_size to that or less, or data.vocab_fewer = true");
  }
  throw InputError("vocabulary of " + std::to_string(options.size) + " subwords cannot be made from this text: " + reason);
}

}  // namespace

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      const VocabularyOptions& options) {
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
