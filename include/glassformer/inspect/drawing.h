// A picture as a list of shapes: what draws it need not know the file it goes to.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/heat_map.h"

namespace glass {

// Coordinates are pixels from the upper left corner.
struct Drawing {
  struct Box {
    int x = 0, y = 0, width = 0, height = 0;
    Color color;
    bool hatched = false;  // for what a mask forbids; `color` is not looked at
  };
  enum class Anchor { start, middle, end };
  struct Text {
    double x = 0, y = 0;  // of the base line
    std::string text;     // UTF-8
    double size = 12;     // height of the letters
    Anchor anchor = Anchor::start;
    bool upwards = false;  // turned by a quarter, reading from below
    Color color;
  };
  struct Line {
    std::vector<std::pair<double, double>> points;
    Color color;
    double width = 1;
  };

  int width = 0, height = 0;
  std::vector<Box> boxes;  // none over another: their order is free. Then the lines, then the texts
  std::vector<Line> lines;
  std::vector<Text> texts;
};

// About how wide a text is in the fonts that viewers take, for leaving room.
double text_width(const std::string& text, double size);

// SVG 1.1 that stands alone, on white. Boxes of one colour share a path, so a map of thousands of cells stays small.
std::string svg_of(const Drawing& drawing);

// PNG, 8 bits a colour, on white, `scale` dots for each pixel. Boxes and lines only: words are for SVG, which leaves
// their fonts to the viewer. Throws ValueError for a picture of no size or over 2^28 dots.
std::string png_of(const Drawing& drawing, int scale = 2);

}  // namespace glass
