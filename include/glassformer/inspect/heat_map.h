// Numbers as colours: for the terminal and for pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "glassformer/inspect/explain.h"

namespace glass {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool is_dark() const;  // white text is read more easily on it than black
};

// From dark blue for 0 to yellow for 1, alike to people who do not tell red from green (Cividis: Nuñez et al., 2018).
Color share_color(double share);
// White for 0, red up to `largest`, blue down to −largest; values beyond are as those.
Color signed_color(double value, double largest);
// What a cell of the matrix is coloured by; `largest` is of the absolute values of the matrix.
Color cell_color(const HeadMatrix& matrix, double value, double largest);
double largest_absolute(const Tensor& values);

// The matrices side by side, with names, each cell's number as its tooltip, and forbidden cells hatched. SVG 1.1 that
// stands alone.
std::string heat_maps_svg(const std::string& title, const std::vector<HeadMatrix>& matrices);

}  // namespace glass
