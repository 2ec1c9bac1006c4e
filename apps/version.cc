#include "version.h"

#include <dnnl.h>
#include <fmt/format.h>

#include "glassformer/base/isa.h"
#include "glassformer/base/threads.h"

namespace glass::program {

Version version() {
  const dnnl_version_t* onednn = dnnl_version();
  return {GLASSFORMER_VERSION, std::string(isa_name(isa())), has_bf16_products(), threads(),
          fmt::format("{}.{}.{}", onednn->major, onednn->minor, onednn->patch)};
}

std::string version_text() {
  const Version v = version();
  return fmt::format("glassformer {}\nISA {}{}, {} threads\noneDNN {}", v.program, v.isa, v.bf16 ? " with bf16" : "",
                     v.threads, v.onednn);
}

}  // namespace glass::program
