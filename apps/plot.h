// A line chart as SVG.
#pragma once

#include <string>
#include <vector>

namespace glass::program {

struct Curve {
  std::string name, color;
  double first_x = 0;  // of its first value; the others follow at distance 1
  std::vector<double> values;
  bool dashed = false;
};

std::string chart_svg(const std::string& title, const std::vector<Curve>& curves);

}  // namespace glass::program
