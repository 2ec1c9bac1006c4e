// Loads a model file and translates each argument.
#include <glassformer/base/error.h>
#include <glassformer/decode/translator.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: app MODEL SENTENCE...\n";
    return 2;
  }
  try {
    const glass::Translator translator = glass::Translator::load(argv[1]);
    for (int i = 2; i < argc; ++i) std::cout << translator.translate(argv[i]).text << "\n";
  } catch (const glass::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
