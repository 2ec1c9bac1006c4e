#include "glassformer/inspect/heat_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace glass {
namespace {

double brightness(Color c) { return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue; }

TEST(HeatMap, SharesGrowBrighter) {
  for (int i = 1; i <= 100; ++i)
    EXPECT_GE(brightness(share_color(i / 100.0)), brightness(share_color((i - 1) / 100.0)));
  EXPECT_TRUE(share_color(0).is_dark());
  EXPECT_FALSE(share_color(1).is_dark());
  EXPECT_EQ(brightness(share_color(2)), brightness(share_color(1)));
  EXPECT_EQ(brightness(share_color(std::nan(""))), brightness(share_color(0)));
}

TEST(HeatMap, SignsHaveTheirOwnSides) {
  EXPECT_GT(signed_color(1, 1).red, signed_color(1, 1).blue);
  EXPECT_LT(signed_color(-1, 1).red, signed_color(-1, 1).blue);
  EXPECT_EQ(signed_color(0, 1).red, signed_color(0, 1).blue);
  EXPECT_EQ(signed_color(5, 0).red, signed_color(0, 1).red);  // a matrix of zeros is white
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(HeatMap, PictureHasEachCellAndIsWellFormed) {
  const auto e = explain_fresh("<a> & \"b\"", {8, 2, 1, {}, AttentionMask::causal()}, 0);
  const std::string svg = heat_maps_svg("title", {e.steps[3], e.steps[4]});
  EXPECT_EQ(count(svg, "<title>"), 2 * 9u);
  EXPECT_EQ(count(svg, "url(#forbidden)"), 2 * 3u);
  EXPECT_EQ(count(svg, "<title>&lt;a&gt;, &amp;: masked</title>"), 2u);
  EXPECT_EQ(svg.find("<a>"), std::string::npos);
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace glass
