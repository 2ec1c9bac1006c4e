#include "glassformer/inspect/model_pictures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "glassformer/base/error.h"
#include "inspect/small_pair.h"

namespace glass {
namespace {

using testing::small_pair;
using testing::small_saved;

Dim count_text(const Drawing& drawing, const std::string& text) {
  return std::count_if(drawing.texts.begin(), drawing.texts.end(), [&](const auto& t) { return t.text == text; });
}

// In cells of a map, `cell` pixels wide and high; the legend's swatch is smaller.
Dim hatched_cells(const Drawing& drawing, int cell) {
  Dim cells = 0;
  for (const Drawing::Box& box : drawing.boxes) {
    if (box.hatched && box.height == cell) cells += box.width / cell;
  }
  return cells;
}

constexpr int full_cell = 24;  // of a short sentence

class ModelPictures : public ::testing::Test {
 protected:
  Drawing draw(const HeadChoice& choice) const { return draw_attention(*saved.model, pair, choice); }
  const SavedTranslation saved = small_saved();
  const PairTokens pair = small_pair(saved);
};

TEST_F(ModelPictures, OneHeadWithItsTokens) {
  const Drawing cross = draw({AttentionKind::cross, -1, 0});
  EXPECT_EQ(count_text(cross, "cross-attention, layer 1, head 0"), 1);
  for (const char* token : {"two", "dogs", "zwei", "hunde"}) EXPECT_EQ(count_text(cross, token), 1) << token;
  EXPECT_EQ(hatched_cells(cross, full_cell), 0);
  const Drawing decoder = draw({AttentionKind::decoder, 0, 1});
  EXPECT_EQ(hatched_cells(decoder, full_cell), 3);  // above the diagonal of three tokens
  EXPECT_EQ(count_text(decoder, "masked"), 1);
}

TEST_F(ModelPictures, GridsOfHeadsAndLayers) {
  const Drawing layer = draw({AttentionKind::decoder, 1, {}});
  EXPECT_EQ(count_text(layer, "head 0") + count_text(layer, "head 1"), 2);
  EXPECT_EQ(hatched_cells(layer, full_cell), 2 * 3);
  const Drawing stack = draw({AttentionKind::decoder, {}, {}});
  EXPECT_EQ(hatched_cells(stack, full_cell), 2 * 2 * 3);
  for (const char* panel : {"0.0", "0.1", "1.0", "1.1"}) EXPECT_EQ(count_text(stack, panel), 1) << panel;
  EXPECT_EQ(count_text(stack, "zwei"), 2 + 2);  // beside both rows of panels, above both of the first row
}

TEST_F(ModelPictures, RefusesWhatIsNotThere) {
  EXPECT_THROW(draw({AttentionKind::encoder, 1, 0}), InputError);
  EXPECT_THROW(draw({AttentionKind::cross, 0, 2}), InputError);
  EXPECT_THROW(draw({AttentionKind::cross, 0, -3}), InputError);
  EXPECT_THROW(draw({AttentionKind::cross, {}, 0}), InputError);
}

TEST_F(ModelPictures, SinusoidsOnceAndLearnedPositionsTwice) {
  const Drawing sinusoidal = draw_positions(*saved.model, 20);
  EXPECT_EQ(count_text(sinusoidal, "sinusoidal positions, [20,8]"), 1);
  EXPECT_EQ(count_text(sinusoidal, "λ 6.28"), 1);
  EXPECT_EQ(count_text(sinusoidal, "decoder"), 0);
  const SavedTranslation learned = small_saved(PositionKind::learned);
  const Drawing both = draw_positions(*learned.model, 7);
  EXPECT_EQ(count_text(both, "encoder") + count_text(both, "decoder"), 2);
  EXPECT_THROW(draw_positions(*learned.model, 8), InputError);
}

TEST_F(ModelPictures, MasksWithPadding) {
  const Drawing masks = draw_masks(pair, 2);
  // Of five queries each: two padding keys, the causal triangle, two padding keys.
  EXPECT_EQ(hatched_cells(masks, full_cell), 5 * 2 + 10 + 5 * 2);
  EXPECT_EQ(hatched_cells(draw_masks(pair, 0), full_cell), 3);
  EXPECT_THROW(draw_masks(pair, -1), InputError);
}

}  // namespace
}  // namespace glass
