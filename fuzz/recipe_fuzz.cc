// A recipe of any bytes is refused by an InputError, or read, and then written and read again as the same.
#include <string>

#include "fuzz/memory_file.h"
#include "glassformer/base/error.h"
#include "glassformer/train/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace glass;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    Recipe recipe = parse_recipe(text, "recipe.toml");
    const std::string written = recipe_text(recipe);
    fuzz::require(recipe_text(parse_recipe(written, "written")) == written);
    check_recipe(recipe);
  } catch (const InputError&) {
  }
  try {
    Recipe recipe;
    set_in_recipe(recipe, text);
  } catch (const InputError&) {
  }
  return 0;
}
