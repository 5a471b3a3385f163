"""Maps a function over numbers in a pool of processes.

pool.py ITEMS STEPS prints the sum over all items.
"""

import multiprocessing
import sys


def chain(value):
    for _ in range(STEPS):
        value = (value * 6364136223846793005 + 1) % 2**64
    return value


ITEMS, STEPS = int(sys.argv[1]), int(sys.argv[2])

if __name__ == "__main__":
    with multiprocessing.Pool() as pool:
        print(sum(pool.map(chain, range(ITEMS), chunksize=1)) % 2**64)
