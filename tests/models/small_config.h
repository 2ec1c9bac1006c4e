// The small model of these tests: a width that is odd, so that nothing rests on its being even.
#pragma once

#include "glassformer/models/config.h"

namespace glass::test {

inline TransformerConfig small_config() {
  TransformerConfig c;
  c.d_model = 15;
  c.heads = 3;
  c.d_ff = 20;
  c.encoder_layers = c.decoder_layers = 2;
  c.source_vocabulary = c.target_vocabulary = 11;
  return c;
}

}  // namespace glass::test
