# SPDX-License-Identifier: Apache-2.0
"""usage: arrivals.py MILLIONTHS SEED COUNT INPUT OUTPUT [INPUT OUTPUT ...]

Prints requests that arrive at a rate in Vidur's form: von Neumann's exponential
variates from SplitMix64."""

import sys

MASK = (1 << 64) - 1


def draws(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def variate(random):
    """A variate of mean 1, in 2^-32."""
    whole = 0
    while True:
        falling = [next(random)]
        while (following := next(random)) < falling[-1]:
            falling.append(following)
        if len(falling) % 2:
            return (whole << 32) + (falling[0] >> 32)
        whole += 1


def main():
    rate, seed, count, *lengths = map(int, sys.argv[1:])
    random, total = draws(seed), 0
    print("arrived_at,num_prefill_tokens,num_decode_tokens")
    for index in range(count):
        total += variate(random)
        at = total * 10**15 // rate >> 32
        seconds, rest = divmod(at, 10**9)
        text = f"{seconds}.{rest:09}".rstrip("0").rstrip(".")
        first = index % (len(lengths) // 2) * 2
        print(f"{text},{lengths[first]},{lengths[first + 1]}")


main()
