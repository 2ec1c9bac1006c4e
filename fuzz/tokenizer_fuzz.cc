// A vocabulary of any bytes is refused by an InputError, or encodes and decodes any text without leaving its bounds.
#include <string>

#include "fuzz/memory_file.h"
#include "glassformer/base/error.h"
#include "glassformer/data/text.h"
#include "glassformer/data/vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace glass;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto vocabulary = load_vocabulary(bytes);
    for (const std::string& line :
         {std::string("Two dogs are running, über 19 ▁ 汤姆."), replace_invalid_utf8(bytes)}) {
      const auto tokens = vocabulary->encode(line);
      for (const int32_t token : tokens) fuzz::require(token >= 0 && token < vocabulary->size());
      vocabulary->decode(tokens);
    }
    for (int32_t token = 0; token < vocabulary->size(); ++token) vocabulary->piece(token);
    load_vocabulary(vocabulary->serialize());
  } catch (const InputError&) {
  }
  return 0;
}
