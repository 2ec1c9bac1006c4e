#include "glassformer/inspect/heat_map_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "glassformer/base/error.h"

namespace glass {
namespace {

HeatMap map_of(const std::vector<float>& values, Dim rows, Dim columns) {
  HeatMap map;
  map.values = Tensor::from(values, {rows, columns});
  return map;
}

bool same(Color a, Color b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

// Of the maps: those of the scale below them are 4 or 12 wide.
constexpr int side = 40;  // two cells of 20
Dim area_of(const Drawing& drawing, Color color) {
  Dim area = 0;
  for (const Drawing::Box& box : drawing.boxes) {
    if (!box.hatched && box.height == 20 && same(box.color, color)) area += box.width * box.height;
  }
  return area;
}

bool has_text(const Drawing& drawing, const std::string& text) {
  return std::any_of(drawing.texts.begin(), drawing.texts.end(), [&](const auto& t) { return t.text == text; });
}

TEST(HeatMapGrid, EachCellHasItsColor) {
  HeatMap map = map_of({0, 1, 1, 1}, 2, 2);
  map.rows = {"one", "two"};
  map.columns = {"three", "四"};
  const Drawing drawing = draw_heat_maps({"title", "caption", ColorScale::share, {{map}}}, side);
  EXPECT_EQ(area_of(drawing, share_color(0)), 400);
  EXPECT_EQ(area_of(drawing, share_color(1)), 3 * 400);
  for (const char* text : {"title", "caption", "one", "two", "three", "四", "0", "0.5", "1"}) {
    EXPECT_TRUE(has_text(drawing, text)) << text;
  }
  EXPECT_FALSE(has_text(drawing, "masked"));
}

TEST(HeatMapGrid, SmallSharesHaveAScaleOfTheirOwn) {
  const auto scale_ends_at = [](float largest, const std::string& end) {
    const Drawing drawing = draw_heat_maps({"", "", ColorScale::share, {{map_of({0, 0, 0, largest}, 2, 2)}}}, side);
    return has_text(drawing, end);
  };
  EXPECT_TRUE(scale_ends_at(0.51f, "1"));
  EXPECT_TRUE(scale_ends_at(1.0001f, "1"));  // rounding
  EXPECT_TRUE(scale_ends_at(0.5f, "0.5"));
  EXPECT_TRUE(scale_ends_at(0.03f, "0.05"));
  EXPECT_TRUE(scale_ends_at(0.0015f, "0.002"));
  const Drawing drawing = draw_heat_maps({"", "", ColorScale::share, {{map_of({0.05f, 0, 0, 0}, 2, 2)}}}, side);
  EXPECT_EQ(area_of(drawing, share_color(1)), 400);
}

TEST(HeatMapGrid, ForbiddenCellsAreHatched) {
  HeatMap map = map_of({1, 0, 0.5, 0.5}, 2, 2);
  map.allowed = Tensor::from<bool>({true, false, true, true}, {2, 2});
  const Drawing drawing = draw_heat_maps({"", "", ColorScale::share, {{map}}}, side);
  EXPECT_EQ(std::count_if(drawing.boxes.begin(), drawing.boxes.end(), [](const auto& box) { return box.hatched; }),
            1 + 1);  // and that of the legend
  EXPECT_TRUE(has_text(drawing, "masked"));
}

TEST(HeatMapGrid, SignedNumbersShareOneScale) {
  const Drawing drawing =
      draw_heat_maps({"", "", ColorScale::signed_, {{map_of({-8, 0, 4, 8}, 2, 2), map_of({4, 4, 4, 4}, 2, 2)}}}, side);
  EXPECT_EQ(area_of(drawing, signed_color(-1, 1)), 400);
  EXPECT_EQ(area_of(drawing, signed_color(std::round(0.5 * 63) / 63, 1)), 5 * 400);
  EXPECT_TRUE(has_text(drawing, "-8"));
}

TEST(HeatMapGrid, WhatIsNotFiniteStandsOut) {
  const Drawing drawing = draw_heat_maps({"", "", ColorScale::share, {{map_of({0, 1, std::nanf(""), 1}, 2, 2)}}}, side);
  EXPECT_EQ(area_of(drawing, {255, 0, 255}), 400);
}

// A thin diagonal of a large matrix must not be thinned out.
TEST(HeatMapGrid, TooManyCellsArePooledByTheLargest) {
  const Dim size = 300;
  std::vector<float> values(static_cast<size_t>(size * size));
  for (Dim i = 0; i < size; ++i) values[static_cast<size_t>(i * size + i)] = 1;
  const Drawing drawing = draw_heat_maps({"", "", ColorScale::share, {{map_of(values, size, size)}}}, 100);
  const auto bright = [](const Drawing::Box& box) { return box.height == 1 && same(box.color, share_color(1)); };
  EXPECT_EQ(std::count_if(drawing.boxes.begin(), drawing.boxes.end(), bright), 100);
  EXPECT_LT(drawing.width, 200);
}

TEST(HeatMapGrid, NothingOverlaps) {
  std::vector<std::vector<HeatMap>> maps(3);
  for (auto& row : maps) {
    for (int i = 0; i < 4; ++i) {
      row.push_back(map_of({0, 0.2f, 0.4f, 0.6f, 0.8f, 1}, 2, 3));
      row.back().title = "a title wider than its map";
      row.back().rows = {"first row", "second row"};
    }
  }
  const Drawing d = draw_heat_maps({"t", "c", ColorScale::share, maps}, 60);
  for (size_t a = 0; a < d.boxes.size(); ++a) {
    const auto& p = d.boxes[a];
    EXPECT_TRUE(p.x >= 0 && p.y >= 0 && p.x + p.width <= d.width && p.y + p.height <= d.height);
    for (size_t b = 0; b < a; ++b) {
      const auto& q = d.boxes[b];
      EXPECT_TRUE(p.x + p.width <= q.x || q.x + q.width <= p.x || p.y + p.height <= q.y || q.y + q.height <= p.y);
    }
  }
}

TEST(HeatMapGrid, RefusesWhatDoesNotFit) {
  HeatMap map = map_of({1, 2}, 1, 2);
  EXPECT_THROW(draw_heat_maps({"", "", ColorScale::share, {}}, 10), ValueError);
  map.rows = {"a", "b"};
  EXPECT_THROW(draw_heat_maps({"", "", ColorScale::share, {{map}}}, 10), ShapeError);
  map.rows.clear();
  map.allowed = Tensor::full({2, 1}, 1, DType::boolean);
  EXPECT_THROW(draw_heat_maps({"", "", ColorScale::share, {{map}}}, 10), ShapeError);
}

}  // namespace
}  // namespace glass
