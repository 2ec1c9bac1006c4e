// Runs a layer's tests. With GLASSFORMER_ISA naming an instruction set that this machine lacks it exits with 77, which
// ctest counts as skipped; any other name it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "glassformer/base/isa.h"

// The sanitizers' allocators abort where malloc would return null, which the tests of exhausted memory rely on.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

constexpr int skipped = 77, misused = 2;

// 0 if the tests may run under the instruction set of that name, else the exit status that says why not.
int refusal(std::string_view name) {
  constexpr std::array known{glass::Isa::generic, glass::Isa::avx2, glass::Isa::avx512, glass::Isa::amx};
  const auto named = std::find_if(known.begin(), known.end(), [&](auto isa) { return glass::isa_name(isa) == name; });
  if (named == known.end()) return misused;
  const auto& available = glass::available_isas();
  return std::find(available.begin(), available.end(), *named) == available.end() ? skipped : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* forced = std::getenv("GLASSFORMER_ISA");
  if (const int status = forced != nullptr && *forced != 0 ? refusal(forced) : 0; status != 0) {
    std::printf("GLASSFORMER_ISA=%s: %s\n", forced, status == skipped ? "this machine lacks it" : "unknown");
    return status;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
