#include "glassformer/base/isa.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "glassformer/base/error.h"

namespace glass {
namespace {

TEST(Isa, AvailableRiseFromGeneric) {
  const std::vector<Isa>& found = available_isas();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front(), Isa::generic);
  for (size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1], found[i]);
}

TEST(Isa, NamesDiffer) {
  std::set<std::string_view> names;
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512, Isa::amx}) names.insert(isa_name(isa));
  EXPECT_EQ(names.size(), 4u);
}

// The choice is made once for a process, so each is tried in a process of its own: it exits with 10 + the choice, or
// with 9 and the message of an InputError.
class ForcedIsa : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void choose(const std::string& name) {
    setenv("GLASSFORMER_ISA", name.c_str(), 1);
    try {
      std::exit(10 + static_cast<int>(isa()));
    } catch (const InputError& error) {
      std::fputs(error.what(), stderr);
      std::exit(9);
    }
  }
};

TEST_F(ForcedIsa, IsTheOneInUse) {
  for (const Isa wanted : available_isas()) {
    EXPECT_EXIT(choose(std::string(isa_name(wanted))), testing::ExitedWithCode(10 + static_cast<int>(wanted)), "");
  }
  EXPECT_EXIT(choose(""), testing::ExitedWithCode(10 + static_cast<int>(available_isas().back())), "");
}

TEST_F(ForcedIsa, UnknownOrMissingIsAnError) {
  EXPECT_EXIT(choose("avx9"), testing::ExitedWithCode(9), "GLASSFORMER_ISA=avx9: unknown.*generic");
  for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::amx}) {
    if (isa > available_isas().back()) {
      EXPECT_EXIT(choose(std::string(isa_name(isa))), testing::ExitedWithCode(9), "this machine lacks it");
    }
  }
}

TEST_F(ForcedIsa, GenericHasNoBf16Products) {
  EXPECT_EXIT(
      {
        setenv("GLASSFORMER_ISA", "generic", 1);
        std::exit(has_bf16_products() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace glass
