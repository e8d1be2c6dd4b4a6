# SPDX-License-Identifier: Apache-2.0
"""usage: check_documents.py JOB: prints the schemas of all JSON documents of
a job, stages that are not the first and the last, and numbers that two of them have."""
import sys

import documents

numbers, found = documents.read_all(*sys.argv[1:], documents.COMMANDS)
for who, all_of in found.items():
    schemas = {document["schema"] for document in all_of}
    print(f"{who}: {', '.join(sorted(schemas))}")
for problem in [*documents.problems_of_form(found, ""), *numbers.problems()]:
    print("not of one shape:", problem)
print(numbers.shared(), "of", len(numbers.given), "numbers are in several documents")
