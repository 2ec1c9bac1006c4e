#include "glassformer/base/scope.h"

#include <gtest/gtest.h>

#include <thread>

#include "glassformer/base/error.h"

namespace glass {
namespace {

TEST(Scope, ErrorsNameThePath) {
  const Scope outer("decoder"), unnamed(""), inner("cross_attn");
  EXPECT_EQ(scope_path(), "decoder.cross_attn");
  EXPECT_EQ(scope_path("scores"), "decoder.cross_attn.scores");
  EXPECT_STREQ(ShapeError("matmul: no").what(), "matmul: no (in decoder.cross_attn)");
}

TEST(Scope, OutsideOfAnyThereIsNoPath) {
  EXPECT_EQ(scope_path(), "");
  EXPECT_EQ(scope_path("scores"), "scores");
  EXPECT_STREQ(ShapeError("matmul: no").what(), "matmul: no");
}

TEST(Scope, EndsWithItsBlockEvenByAnException) {
  const Scope outer("encoder");
  try {
    const Scope inner("layers");
    throw ValueError("no");
  } catch (const ValueError&) {
    EXPECT_EQ(scope_path(), "encoder");
  }
}

TEST(Scope, EachThreadHasItsOwn) {
  const Scope here("encoder");
  std::string there = "not asked";
  std::thread([&] { there = scope_path(); }).join();
  EXPECT_EQ(there, "");
}

unsigned long long hash_of(std::string_view a, std::string_view b) {
  const Scope outer(a), inner(b);
  return scope_hash();
}

TEST(Scope, HashTellsPathsApart) {
  EXPECT_NE(hash_of("a", "bc"), hash_of("ab", "c"));
  EXPECT_NE(hash_of("a", "b"), hash_of("b", "a"));
  EXPECT_EQ(hash_of("a", "b"), hash_of("a", "b"));
  EXPECT_EQ(hash_of("a", ""), hash_of("", "a"));  // unnamed scopes are not part of the path
}

}  // namespace
}  // namespace glass
