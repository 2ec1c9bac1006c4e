#include "glassformer/base/random.h"

#include <cmath>
#include <numbers>

namespace glass {

PhiloxBlock philox(uint64_t key, PhiloxBlock counter) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

uint64_t hash_combine(uint64_t a, uint64_t b) {
  // The finaliser of SplitMix64 over both words (Steele, Lea & Flood, 2014).
  uint64_t z = a * 0x9E3779B97F4A7C15u + b + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

uint32_t Random::bits() {
  const uint64_t block = drawn_ / 4;
  const auto words = philox(key_, {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0});
  return words[drawn_++ % 4];
}

float Random::uniform() { return uniform_from_bits(bits()); }

float Random::uniform(float low, float high) { return low + (high - low) * uniform(); }

float Random::normal() {
  const float radius = std::sqrt(-2.0f * std::log(1.0f - uniform()));  // 1 − u is never 0
  return radius * std::cos(2.0f * std::numbers::pi_v<float> * uniform());
}

uint64_t Random::below(uint64_t bound) {
  const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % bound;  // a multiple of bound: what is above would be a bias
  for (;;) {
    const uint64_t high = bits();
    const uint64_t word = (high << 32) | bits();
    if (word < limit) return word % bound;
  }
}

namespace {
thread_local const RandomContext* current_context = nullptr;
}

RandomScope::RandomScope(RandomContext context) : context_(std::move(context)), outer_(current_context) {
  current_context = &context_;
}
RandomScope::~RandomScope() { current_context = outer_; }
const RandomContext* RandomScope::current() { return current_context; }

}  // namespace glass
