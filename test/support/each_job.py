# SPDX-License-Identifier: Apache-2.0
"""What scripts that look at many random jobs have in common."""
import concurrent.futures
import os
import sys
import tempfile


def main(one):
    """Runs `one(foretrace, folder, seed)`, which returns what is wrong or None,
    as the command line FORETRACE SEED COUNT says; prints how often it was."""
    foretrace, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        problems = list(filter(None, pool.map(
            one, [foretrace] * count, [folder] * count,
            ["%s.%d" % (seed, index) for index in range(count)])))
    for problem in problems:
        print(problem)
    print("%d jobs, %d disagreements" % (count, len(problems)))
