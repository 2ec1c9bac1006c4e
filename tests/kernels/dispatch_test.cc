// The instruction set that is chosen or forced is the one that runs. The suite runs once with each forced.
#include "kernels/dispatch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace glass::kernels {
namespace {

TEST(Dispatch, ForcedInstructionSetIsTheOneInUse) {
  const char* forced = std::getenv("GLASSFORMER_ISA");
  // It runs in kernels.isa.*, which force one each.
  if (forced == nullptr) GTEST_SKIP() << "none is forced";
  EXPECT_EQ(isa_name(isa()), forced);
}

TEST(Dispatch, HighwayRunsTheTargetOfTheInstructionSet) {
  switch (isa()) {
    case Isa::generic:  // what every x86-64 has: SSE2, for which Highway 1.0.3 has no target, only one number at a time
      EXPECT_TRUE(highway_target() == "SSE2" || highway_target() == "EMU128" || highway_target() == "SCALAR")
          << highway_target();
      break;
    case Isa::avx2:
      EXPECT_EQ(highway_target(), "AVX2");
      break;
    case Isa::avx512:
    case Isa::amx:
      EXPECT_EQ(highway_target(), "AVX3");
      break;  // AMX is oneDNN's alone
  }
}

TEST(Dispatch, OnednnRunsTheInstructionSet) { EXPECT_EQ(onednn_isa(), isa()); }

}  // namespace
}  // namespace glass::kernels
