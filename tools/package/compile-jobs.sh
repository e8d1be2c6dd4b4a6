#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: compile-jobs.sh [JOB.fore...]
#
# Compiles jobs without writing their outputs; exits with 1 if one has errors. Of a file
# without a `parallel` section, only the model is compiled.
status=0
for job; do
  emit=params
  if grep -q '^[[:space:]]*parallel[[:space:]]*{' "$job"; then emit=ir; fi
  foretrace compile "$job" --emit=$emit -o /dev/null --quiet || status=1
done
exit $status
