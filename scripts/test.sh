#!/usr/bin/env bash
# Sets up, builds and runs every test. Arguments go to ctest: scripts/test.sh -R autograd
# BUILD_DIR chooses the build folder (default build-test), CMAKE_FLAGS adds flags to the configuration.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --test
build=${BUILD_DIR:-build-test}
# shellcheck disable=SC2086
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE="${BUILD_TYPE:-Release}" ${CMAKE_FLAGS:-} >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" "$@"
