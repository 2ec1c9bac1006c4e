// Words and characters, and the choice among the kinds.
#include "glassformer/data/vocabulary.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "data/vocabulary_kinds.h"
#include "glassformer/base/error.h"
#include "glassformer/data/text.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

// At blanks and tabs: what other characters part is the user's to say, by parting it.
std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  size_t place = 0;
  while (place < line.size()) {
    const size_t begin = line.find_first_not_of(" \t", place);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    place = end;
  }
  return words;
}

// A list of entries, either words (joined by blanks) or characters (joined by nothing).
class ListVocabulary : public Vocabulary {
 public:
  ListVocabulary(char kind, std::vector<std::string> entries) : kind_(kind), entries_(std::move(entries)) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto [place, is_new] = ids_.emplace(entries_[i], special_tokens + static_cast<int32_t>(i));
      if (!is_new || entries_[i].empty()) throw InputError("tokenizer: an entry is empty or comes twice");
    }
  }

  int32_t size() const override { return special_tokens + static_cast<int32_t>(entries_.size()); }

  std::vector<int32_t> encode(std::string_view line) const override {
    std::vector<int32_t> tokens;
    for (const std::string_view part : parts_of(line)) tokens.push_back(token_of(part));
    return tokens;
  }

  std::vector<TokenSpan> encode_spans(std::string_view line) const override {
    std::vector<TokenSpan> spans;
    for (const std::string_view part : parts_of(line)) {
      const auto begin = static_cast<size_t>(part.data() - line.data());
      spans.push_back({token_of(part), begin, begin + part.size()});
    }
    return spans;
  }

  std::string decode(const std::vector<int32_t>& tokens) const override {
    std::string text;
    for (const int32_t token : tokens) {
      if (token == eos_token) break;
      if (token == pad_token || token == bos_token) continue;
      if (kind_ == word_kind && !text.empty()) text += ' ';
      text += piece(token);
    }
    return text;
  }

  std::string piece(int32_t token) const override {
    static const char* const specials[] = {"<pad>", "<unk>", "<s>", "</s>"};
    if (token < 0 || token >= size()) {
      throw ValueError("tokenizer: token " + std::to_string(token) + " is outside of [0," + std::to_string(size()) +
                       ")");
    }
    return token < special_tokens ? specials[token] : entries_[static_cast<size_t>(token - special_tokens)];
  }

  // The kind, and each entry with its length before it: an entry may hold any byte.
  std::string serialize() const override {
    std::string out(1, kind_);
    for (const std::string& entry : entries_) out += std::to_string(entry.size()) + ":" + entry;
    return out;
  }

 private:
  std::vector<std::string_view> parts_of(std::string_view line) const {
    return kind_ == word_kind ? split_words(line) : utf8_characters(line);
  }
  int32_t token_of(std::string_view part) const {
    const auto found = ids_.find(std::string(part));
    return found == ids_.end() ? unknown_token : found->second;
  }

  char kind_;
  std::vector<std::string> entries_;
  std::unordered_map<std::string, int32_t> ids_;
};

std::shared_ptr<const Vocabulary> load_list(char kind, std::string_view payload) {
  std::vector<std::string> entries;
  while (!payload.empty()) {
    size_t length = 0, place = 0;
    while (place < payload.size() && place < 9 && payload[place] >= '0' && payload[place] <= '9') {
      length = length * 10 + static_cast<size_t>(payload[place++] - '0');
    }
    if (place == 0 || place >= payload.size() || payload[place] != ':' || length > payload.size() - place - 1) {
      throw InputError("tokenizer: the list of entries is damaged");
    }
    entries.emplace_back(payload.substr(place + 1, length));
    payload.remove_prefix(place + 1 + length);
  }
  return std::make_shared<ListVocabulary>(kind, std::move(entries));
}

// The most frequent first; equals by their bytes.
std::shared_ptr<const Vocabulary> train_list(char kind, const std::vector<std::string>& lines,
                                             const VocabularyOptions& options) {
  if (options.size <= special_tokens) {
    throw InputError("vocabulary of " + std::to_string(options.size) + " entries: " + std::to_string(special_tokens) +
                     " are special tokens; set data.vocab_size to more");
  }
  std::map<std::string_view, int64_t> counts;
  for (const std::string& line : lines) {
    for (const std::string_view part : kind == word_kind ? split_words(line) : utf8_characters(line)) ++counts[part];
  }
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [part, count] : counts) {
    if (count >= options.min_frequency) order.emplace_back(-count, part);
  }
  if (order.empty()) {
    throw InputError(std::string("vocabulary: the text has no ") + (kind == word_kind ? "word" : "character") +
                     " that occurs data.min_frequency = " + std::to_string(options.min_frequency) + " times");
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), static_cast<size_t>(options.size - special_tokens)));
  std::vector<std::string> entries;
  for (const auto& [count, part] : order) entries.emplace_back(part);
  return std::make_shared<ListVocabulary>(kind, std::move(entries));
}

// For each byte of lowercase(line), and its end, where its character begins in `line`: both have the same characters in
// the same order, but for the dotted I, which becomes two.
std::vector<size_t> places_before_folding(std::string_view line) {
  std::vector<size_t> places;
  size_t begin = 0;
  for (const std::string_view character : utf8_characters(line)) {
    places.insert(places.end(), lowercase(character).size(), begin);
    begin += character.size();
  }
  places.push_back(begin);
  return places;
}

// Folds the text to lower case before another vocabulary sees it.
class LowercaseVocabulary : public Vocabulary {
 public:
  explicit LowercaseVocabulary(std::shared_ptr<const Vocabulary> inner) : inner_(std::move(inner)) {}
  int32_t size() const override { return inner_->size(); }
  std::vector<int32_t> encode(std::string_view line) const override { return inner_->encode(lowercase(line)); }
  std::vector<TokenSpan> encode_spans(std::string_view line) const override {
    const std::vector<size_t> from = places_before_folding(line);
    std::vector<TokenSpan> spans = inner_->encode_spans(lowercase(line));
    for (TokenSpan& span : spans) span = {span.token, from.at(span.begin), from.at(span.end)};
    return spans;
  }
  std::string decode(const std::vector<int32_t>& tokens) const override { return inner_->decode(tokens); }
  std::string piece(int32_t token) const override { return inner_->piece(token); }
  std::string serialize() const override { return lowercase_kind + inner_->serialize(); }

 private:
  std::shared_ptr<const Vocabulary> inner_;
};

std::shared_ptr<const Vocabulary> train_lowercase(const std::vector<std::string>& lines, VocabularyOptions options) {
  std::vector<std::string> folded;
  for (const std::string& line : lines) folded.push_back(lowercase(line));
  options.lowercase = false;
  return std::make_shared<LowercaseVocabulary>(train_vocabulary(folded, options));
}

}  // namespace

std::shared_ptr<const Vocabulary> train_vocabulary(const std::vector<std::string>& lines,
                                                   const VocabularyOptions& options) {
  if (options.lowercase) return train_lowercase(lines, options);
  if (options.model == "word") return train_list(word_kind, lines, options);
  if (options.model == "char") return train_list(character_kind, lines, options);
  if (options.model == "unigram" || options.model == "bpe") return train_sentencepiece(lines, options);
  throw InputError("vocabulary: unknown model \"" + options.model + "\"; use unigram, bpe, word or char");
}

std::shared_ptr<const Vocabulary> load_vocabulary(const std::string& bytes) {
  const char kind = bytes.empty() ? '\0' : bytes[0];
  if (kind == sentencepiece_kind) return load_sentencepiece(bytes.substr(1));
  if (kind == word_kind || kind == character_kind) return load_list(kind, std::string_view(bytes).substr(1));
  if (kind == lowercase_kind && bytes.size() > 1 && bytes[1] != lowercase_kind) {
    return std::make_shared<LowercaseVocabulary>(load_vocabulary(bytes.substr(1)));
  }
  throw InputError("tokenizer: the bytes are of no known kind");
}

}  // namespace glass
