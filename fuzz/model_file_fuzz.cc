// A model file of any bytes is read whole, or refused by an InputError.
#include "fuzz/memory_file.h"
#include "glassformer/base/error.h"
#include "glassformer/decode/saved_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace glass;
  const fuzz::MemoryFile file(data, size);
  try {
    const SafeTensors contents = read_safetensors(file.path());
    if (task_of(contents, file.path()) == "forecast") {
      forecast_from(contents, file.path());
    } else {
      const SavedTranslation saved = translation_from(contents, file.path());
      saved.target->decode(saved.source->encode("A dog is running."));
    }
  } catch (const InputError&) {
  }
  return 0;
}
