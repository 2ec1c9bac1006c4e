#include "data/sentencepiece_check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "glassformer/base/error.h"
#include "glassformer/data/text.h"

namespace glass {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw InputError(std::string("tokenizer: the SentencePiece model is damaged: ") + what);
}

uint32_t little_endian(std::string_view bytes, size_t place) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[place + i])) << (8 * i);
  return value;
}

// The fields of one protocol buffer message (protobuf.dev, "Encoding"), in their order.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  // False at the end; else the field is described by number(), wire() and value() or bytes().
  bool next() {
    if (rest_.empty()) return false;
    const uint64_t key = varint();
    number_ = key >> 3;
    wire_ = static_cast<int>(key & 7);
    switch (wire_) {
      case 0:
        value_ = varint();
        break;
      case 1:
        bytes_ = take(8);
        break;
      case 2:
        bytes_ = take(varint());
        break;
      case 5:
        bytes_ = take(4);
        break;
      default:
        refuse("a field of no known type");
    }
    return true;
  }

  uint64_t number() const { return number_; }
  uint64_t value() const { return expect(0), value_; }
  std::string_view bytes() const { return expect(2), bytes_; }
  float real() const {
    expect(5);
    const uint32_t bits = little_endian(bytes_, 0);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

 private:
  void expect(int wire) const {
    if (wire_ != wire) refuse("a field of another type than it should have");
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7Fu) << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number without end");
  }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) refuse("it ends too early");
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_, bytes_;
  uint64_t number_ = 0, value_ = 0;
  int wire_ = 0;
};

// The table that normalization looks characters up in: the length of a double-array trie, the trie, and the
// replacements, each ended by NUL. A unit of the trie is 32 bits (darts-clone): 0-7 the label, 8 whether a value is at
// the children's place, 9 whether the offset is in blocks of 256, 10-30 the offset, 31 whether this is a value.
class NormalizationTable {
 public:
  explicit NormalizationTable(std::string_view table) {
    if (table.size() < 4) refuse("the normalization table is too short");
    const size_t trie_size = little_endian(table, 0);
    if (trie_size > table.size() - 4 || trie_size % 1024 != 0 || trie_size == 0)
      refuse("the normalization table's size");
    units_ = table.substr(4, trie_size);
    replacements_ = table.substr(4 + trie_size);
  }

  void check() const {
    if (replacements_.empty() || replacements_.back() != '\0') refuse("the normalization table's end");
    if (valid_utf8_prefix(replacements_) != replacements_.size()) refuse("a replacement is not UTF-8");
    const size_t count = units_.size() / 4;
    std::vector<bool> seen(count);  // by the place of the children
    std::vector<size_t> open;
    visit(0, seen, open);
    while (!open.empty()) {
      const size_t children = open.back();
      open.pop_back();
      for (uint32_t label = 0; label < 256; ++label) {
        const size_t child = children ^ label;
        if ((unit(child) & 0x800000FFu) == label) visit(child, seen, open);
      }
    }
  }

 private:
  uint32_t unit(size_t place) const { return little_endian(units_, place * 4); }

  void visit(size_t place, std::vector<bool>& seen, std::vector<size_t>& open) const {
    const uint32_t bits = unit(place);
    const size_t children = place ^ (static_cast<size_t>(bits >> 10) << ((bits & 0x200u) >> 6));
    if ((children | 0xFFu) >= seen.size()) refuse("the normalization table leads outside of itself");
    if ((bits & 0x100u) != 0) check_value(unit(children) & 0x7FFFFFFFu);
    if (seen[children]) return;
    seen[children] = true;
    open.push_back(children);
  }

  void check_value(uint32_t value) const {
    if (value >= replacements_.size() || (static_cast<unsigned char>(replacements_[value]) & 0xC0u) == 0x80) {
      refuse("the normalization table names no replacement");
    }
  }

  std::string_view units_, replacements_;
};

void check_normalizer(std::string_view message) {
  constexpr uint64_t table_field = 2;
  for (MessageReader field(message); field.next();) {
    if (field.number() == table_field && !field.bytes().empty()) NormalizationTable(field.bytes()).check();
  }
}

void check_trainer(std::string_view message) {
  constexpr uint64_t model_type_field = 3, unigram = 1, bpe = 2;
  for (MessageReader field(message); field.next();) {
    if (field.number() == model_type_field && field.value() != unigram && field.value() != bpe) {
      refuse("it is neither unigram nor bpe");
    }
  }
}

void check_piece(std::string_view message) {
  constexpr uint64_t text_field = 1, score_field = 2, type_field = 3, normal = 1, control = 3;
  for (MessageReader field(message); field.next();) {
    if (field.number() == text_field && valid_utf8_prefix(field.bytes()) != field.bytes().size()) {
      refuse("a piece is not UTF-8");
    }
    if (field.number() == score_field && !std::isfinite(field.real())) refuse("a score is not a number");
    if (field.number() == type_field && (field.value() < normal || field.value() > control)) {
      refuse("a piece of a type that is not used here");  // bytes end the process where they decode to none
    }
  }
}

}  // namespace

void check_sentencepiece_model(std::string_view model) {
  constexpr uint64_t piece_field = 1, trainer_field = 2, normalizer_field = 3, self_test_field = 4,
                     denormalizer_field = 5;
  for (MessageReader field(model); field.next();) {
    switch (field.number()) {
      case piece_field:
        check_piece(field.bytes());
        break;
      case trainer_field:
        check_trainer(field.bytes());
        break;
      case normalizer_field:
      case denormalizer_field:
        check_normalizer(field.bytes());
        break;
      case self_test_field:
        break;
      default:
        refuse("an unknown part");
    }
  }
}

}  // namespace glass
