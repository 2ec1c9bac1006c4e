// Matrices as heat maps side by side, with names for their rows and columns and one scale of colours.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/drawing.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

enum class ColorScale {
  share,    // Cividis from 0 to 1 or, where all are smaller, to the next of 0.5, 0.2, 0.1, 0.05, …
  signed_,  // blue, white at 0, red, to the largest size in any of the maps
  mask,     // what may be attended to, of bool: plain, the rest hatched
};

struct HeatMap {
  std::string title;
  Tensor values;                           // [rows, columns]
  Tensor allowed;                          // bool [rows, columns], false for hatched; undefined if all are
  std::vector<std::string> rows, columns;  // one name each, "" for none; or empty: no names at this side
};

struct HeatMapGrid {
  std::string title, caption;  // caption: a smaller line below the title
  ColorScale scale = ColorScale::share;
  std::vector<std::vector<HeatMap>> maps;  // row by row; rows need not be equally long
};

// The largest size of a map in pixels is `side`; wide and high matrices share what cells are worth by `square`. Beyond
// one pixel a cell, each pixel shows the largest of its cells (a mean would hide thin diagonals). Numbers that are not
// finite are magenta. Throws ValueError if there is no map, ShapeError for names or masks that do not fit the values.
Drawing draw_heat_maps(const HeatMapGrid& grid, int side, bool square = true);

}  // namespace glass
