# SPDX-License-Identifier: Apache-2.0
"""usage: as_lines.py < REQUESTS

Prints requests in Vidur's form as LLMServingSim's lines."""

import csv
import decimal
import json
import sys

for row in csv.DictReader(sys.stdin):
    print(json.dumps({"input_toks": int(row["num_prefill_tokens"]),
                      "output_toks": int(row["num_decode_tokens"]),
                      "arrival_time_ns": int(decimal.Decimal(row["arrived_at"])
                                             * 10**9)}))
