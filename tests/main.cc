// Runs a layer's tests. With GLASSFORMER_ISA naming an instruction set that this machine lacks it exits with 77, which
// ctest counts as skipped; any other name it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "glassformer/base/isa.h"

namespace {

constexpr int skipped = 77;

bool is_missing_isa(std::string_view name) {
  constexpr std::array known{glass::Isa::generic, glass::Isa::avx2, glass::Isa::avx512, glass::Isa::amx};
  const auto& available = glass::available_isas();
  const auto named = std::find_if(known.begin(), known.end(), [&](auto isa) { return glass::isa_name(isa) == name; });
  return named != known.end() && std::find(available.begin(), available.end(), *named) == available.end();
}

}  // namespace

int main(int argc, char** argv) {
  const char* forced = std::getenv("GLASSFORMER_ISA");
  if (forced != nullptr && is_missing_isa(forced)) {
    std::printf("this machine lacks %s\n", forced);
    return skipped;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
