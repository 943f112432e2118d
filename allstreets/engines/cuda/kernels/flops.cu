// What is added up over flops, and over the regrets of each, in an order that never changes.

#define TOGETHER 64 // flops whose values one thread adds up

// Σ over flops of weight · value: some flops each …
KERNEL sum_flops(const Values *ONLY s) {
    const int parts = (s->places + TOGETHER - 1) / TOGETHER;
    const int part = BLOCK % parts, pot = BLOCK / parts;
    const int first = part * TOGETHER, left = (int)s->places - first;
    const int count = left < TOGETHER ? left : TOGETHER;
    const float *ONLY values = s->values + (pot * s->places + first) * s->hands;
    for (int hand = THREAD; hand < s->hands; hand += THREADS) {
        double total = 0.0;
#pragma unroll 8
        for (int flop = 0; flop < count; flop++)
            total += s->weights[first + flop] * values[flop * s->hands + hand];
        s->parts[(Long)BLOCK * s->hands + hand] = total;
    }
}

// … and then all of them.
KERNEL sum_parts(const Values *ONLY s) {
    const int parts = (s->places + TOGETHER - 1) / TOGETHER;
    for (int hand = THREAD; hand < s->hands; hand += THREADS) {
        double total = 0.0;
#pragma unroll 8
        for (int part = 0; part < parts; part++)
            total += s->parts[((Long)BLOCK * parts + part) * s->hands + hand];
        s->totals[BLOCK * s->hands + hand] = total;
    }
}

// Of the own regrets of a pot on a flop: the sum of the positive ones, and the largest.
KERNEL sum_regrets(const Regrets *ONLY s) {
    const int pot = BLOCK % s->pots;
    const Where at = where(s, BLOCK / s->pots);
    const Store store = s->stores[pot];
    const float *regrets = store.own_regrets + at.flop * store.own_size;
    PositiveRegrets found = {};
    for (Long each = THREAD; each < store.own_size; each += THREADS) note(found, regrets[each]);
    add_up(found, s->sums + 2 * (at.whole * s->pots + pot));
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Regrets *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->call[0]++;
}
