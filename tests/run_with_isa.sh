#!/usr/bin/env bash
# run_with_isa.sh ISA PROGRAM TEST: runs a test executable with a forced instruction set; 77 if the machine lacks it.
set -euo pipefail
export GLASSFORMER_ISA=$1
"$2" --version >/dev/null 2>&1 || exit 77
exec "$3" --gtest_brief=1
