/* Many short parallel regions, whose threads wait for each other after each one.
   regions.c REGIONS ITEMS STEPS prints the sum over all items. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t chain(uint64_t value, long steps) {
    for (long step = 0; step < steps; step++)
        value = value * 6364136223846793005u + 1;
    return value;
}

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    long regions = atol(arguments[1]), items = atol(arguments[2]), steps = atol(arguments[3]);
    uint64_t sum = 0;
    for (long region = 0; region < regions; region++) {
#pragma omp parallel for reduction(+ : sum)
        for (long item = 0; item < items; item++)
            sum += chain(region * items + item, steps);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
