#include "inspect/token_spans.h"

#include <gtest/gtest.h>

namespace glass {
namespace {

using Spans = std::vector<ByteSpan>;
constexpr size_t no = 0;

ByteSpan at(size_t begin, size_t end) { return std::pair(begin, end); }

TEST(TokenSpans, PiecesWithAndWithoutTheBlankBeforeAWord) {
  EXPECT_EQ(spans_of_pieces("the cats", {"▁the", "▁cat", "s"}), (Spans{at(no, 3), at(4, 7), at(7, 8)}));
  EXPECT_EQ(spans_of_pieces("猫坐", {"▁", "猫", "坐"}), (Spans{{}, at(0, 3), at(3, 6)}));
  EXPECT_EQ(spans_of_pieces("a b", {"▁a▁b"}), (Spans{at(no, 3)}));
}

TEST(TokenSpans, APieceThatIsNotInTheTextHasNone) {
  EXPECT_EQ(spans_of_pieces("a ⁇ b", {"▁a", "<unk>", "▁b"}), (Spans{at(no, 1), {}, at(6, 7)}));
  EXPECT_EQ(spans_of_pieces("", {"▁a", ""}), (Spans{{}, {}}));
}

TEST(TokenSpans, EqualPiecesComeOneAfterAnother) {
  EXPECT_EQ(spans_of_pieces("ha ha", {"▁ha", "▁ha", "▁ha"}), (Spans{at(no, 2), at(3, 5), {}}));
}

}  // namespace
}  // namespace glass
