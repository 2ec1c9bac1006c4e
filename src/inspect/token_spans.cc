#include "inspect/token_spans.h"

#include <string_view>

namespace glass {

namespace {

constexpr std::string_view blank_mark = "▁";

// The piece as it stands in the text, without blanks around it.
std::string text_of_piece(const std::string& piece) {
  std::string text;
  for (size_t i = 0; i < piece.size();) {
    const bool blank = piece.compare(i, blank_mark.size(), blank_mark) == 0;
    text += blank ? ' ' : piece[i];
    i += blank ? blank_mark.size() : 1;
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

std::vector<ByteSpan> spans_of_pieces(const std::string& text, const std::vector<std::string>& pieces) {
  std::vector<ByteSpan> spans;
  size_t place = 0;
  for (const std::string& piece : pieces) {
    const std::string wanted = text_of_piece(piece);
    const size_t begin = wanted.empty() ? std::string::npos : text.find(wanted, place);
    spans.emplace_back();
    if (begin == std::string::npos) continue;
    place = begin + wanted.size();
    spans.back() = {begin, place};
  }
  return spans;
}

}  // namespace glass
