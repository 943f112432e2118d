// What the kernels of matrix games share: decisions, four neighbouring hands at a time, and sums over
// flops.
//
// Numbers of a decision stand as [hand / 16][action][16] from its slot on, so that four hands of an
// action are read and written at once.

#include "common.cuh"

struct Store { // of a pot: arrays by flop, and how long those of one flop are
    float *player_regrets, *player_average, *opponent_regrets, *opponent_average;
    Long player_size, opponent_size;
    // Hands that are stored, padded, and by hand its place among them (NOWHERE: none); 0: all are.
    Long player_hands, opponent_hands;
    const Byte *player_place, *opponent_place;
};
#define NOWHERE 255
struct alignas(16) Node { // a decision: the row of its reach or value, and that of its first action
    int row, child, slot;
    Short actions, locked; // locked: all hands play their average, whatever their regrets
};
struct Weights { // of an iteration: `cfr.IterationWeights`
    float positive, negative, floor, average, weight, threshold, ahead;
};

struct Request { // what a pass is about: K flops, part by part
    Long pots;
    Long part;         // of the flops of a pass: those whose rows are in the rooms together
    const int *firsts; // [parts + 1]: places of their first flops
    int *call;         // row of weights, how many further that of the next flop is, and K
    const Weights *weights;
    const int *flop_of; // [K]
    const Byte *visits; // [K][P]
};

// Where a block is: a place among the flops of a pass, and its flop.
struct Where {
    int place; // in the rooms
    Long whole;
    int flop;
};

DEVICE Where where(const Request *ONLY s, int place) {
    Where at;
    at.place = place;
    at.whole = s->firsts[s->part] + place;
    at.flop = s->flop_of[at.whole];
    return at;
}

DEVICE int places_of(const Request *ONLY s) { return s->firsts[s->part + 1] - s->firsts[s->part]; }

DEVICE Weights weights_at(const Request *ONLY s, const Where &at) {
    return s->weights[s->call[0] + s->call[1] * at.whole];
}

DEVICE bool visited(const Request *ONLY s, const Where &at, int pot) {
    return s->visits[at.whole * s->pots + pot];
}

// Within two units of the last digit, without the branches that one would take.
DEVICE float quotient(float whole, float parts) {
#ifdef __CUDACC__
    return __fdividef(whole, parts);
#else
    return whole / parts;
#endif
}

// Where the numbers of four hands at a decision stand, of a stage that has so many hands.
DEVICE Long stored_at(int slot, int actions, int hand, int hands) {
    return (Long)slot * hands + hand / 16 * 16 * actions + hand % 16;
}

struct Matching { // shares of numbers, and what they are multiplied by
    Four factor, even;
};

template <int N> DEVICE Matching matching(const Four (&numbers)[N], int actions) {
    Four total = all(0.0f);
    UNROLL for (int a = 0; a < actions; a++) EACH_LANE total.lane[i] += above(numbers[a].lane[i]);
    Matching found;
    EACH_LANE {
        const bool some = total.lane[i] > TINY;
        found.factor.lane[i] = some ? quotient(1.0f, total.lane[i]) : 0.0f;
        found.even.lane[i] = some ? 0.0f : 1.0f / actions;
    }
    return found;
}

DEVICE Four chance_of(Four number, const Matching &found) {
    Four chance;
    EACH_LANE chance.lane[i] = above(number.lane[i]) * found.factor.lane[i] + found.even.lane[i];
    return chance;
}

// Where the numbers of four neighbouring hands at a decision are: side by side, or each for itself where
// only some hands are stored. A hand that is not stored has zeros, and so plays evenly.
struct Neighbours {
    METHOD Four take(const float *from) const { return four(from); }
    METHOD void give(float *to, Four numbers) const { put(to, numbers); }
};
struct Scattered {
    int place[4]; // −1: not stored

    METHOD Four take(const float *from) const {
        Four numbers;
        EACH_LANE numbers.lane[i] = place[i] < 0 ? 0.0f : from[place[i]];
        return numbers;
    }
    METHOD void give(float *to, Four numbers) const {
        EACH_LANE if (place[i] >= 0) to[place[i]] = numbers.lane[i];
    }
};

DEVICE Scattered scattered(const Byte *places, int hand, int actions) {
    Scattered found;
    EACH_LANE {
        const int place = places[hand + i];
        found.place[i] = place == NOWHERE ? -1 : place / 16 * 16 * actions + place % 16;
    }
    return found;
}

// The opponent's reach shared out among the actions of his decision; if it `gathers`, the sums of his
// strategy move. Rows stand `stride` apart.
template <int A, typename Places>
DEVICE void split_four(const Places &hands, const float *stored, float *sums, const float *row,
                       float *child, int stride, const Weights &weights, float least, bool gathers,
                       int run_time) {
    const int actions = A ? A : run_time;
    Four numbers[A ? A : MOST_ACTIONS], old[A ? A : MOST_ACTIONS];
    UNROLL for (int a = 0; a < actions; a++) {
        numbers[a] = hands.take(stored + 16 * a);
        old[a] = hands.take(sums + 16 * a); // read in any case: loads that are sure can be early
    }
    const Four here = four(row);
    const Matching found = matching(numbers, actions);
    UNROLL for (int a = 0; a < actions; a++) {
        const Four chance = chance_of(numbers[a], found);
        Four reach;
        EACH_LANE reach.lane[i] = here.lane[i] * chance.lane[i];
        put(child + a * stride, reach);
        EACH_LANE old[a].lane[i] = weights.average * old[a].lane[i] +
                                   weights.weight * (here.lane[i] + least) * chance.lane[i];
        if (gathers) hands.give(sums + 16 * a, old[a]);
    }
}

template <int MOST, typename Places>
DEVICE void split_actions(int actions, const Places &hands, const float *stored, float *sums,
                          const float *row, float *child, int stride, const Weights &weights,
                          float least, bool gathers) {
    by_actions<MOST>(actions, [&](auto known) {
        split_four<known.count>(hands, stored, sums, row, child, stride, weights, least, gathers,
                                actions);
    });
}

// A player's decision whose action a is worth worth_of(a): its value; regrets move.
template <int A, typename Places, typename Worth>
DEVICE Four learn_four(int mode, const Places &hands, float *stored, const Worth &worth_of,
                       const Weights &weights, int run_time) {
    const int actions = A ? A : run_time;
    Four numbers[A ? A : MOST_ACTIONS], worth[A ? A : MOST_ACTIONS];
    if (mode != BEST_RESPONSE) {
        UNROLL for (int a = 0; a < actions; a++) numbers[a] = hands.take(stored + 16 * a);
    }
    UNROLL for (int a = 0; a < actions; a++) worth[a] = worth_of(a);
    Four value;
    if (mode == BEST_RESPONSE) {
        value = worth[0];
        UNROLL for (int a = 1; a < actions; a++)
            EACH_LANE value.lane[i] = worth[a].lane[i] > value.lane[i] ? worth[a].lane[i]
                                                                       : value.lane[i];
    } else {
        const Matching found = matching(numbers, actions);
        value = all(0.0f);
        UNROLL for (int a = 0; a < actions; a++) {
            const Four chance = chance_of(numbers[a], found);
            EACH_LANE value.lane[i] += chance.lane[i] * worth[a].lane[i];
        }
    }
    if (mode == UPDATE) {
        Four total = all(0.0f), gains = all(0.0f);
        UNROLL for (int a = 0; a < actions; a++) {
            Four updated;
            EACH_LANE {
                const float old = numbers[a].lane[i], gain = worth[a].lane[i] - value.lane[i];
                const float next = old * (old > 0.0f ? weights.positive : weights.negative) + gain;
                updated.lane[i] = next > weights.floor ? next : weights.floor;
                total.lane[i] += above(updated.lane[i]);
                gains.lane[i] += above(updated.lane[i]) * gain;
            }
            hands.give(stored + 16 * a, updated);
        }
        EACH_LANE value.lane[i] +=
            total.lane[i] > TINY ? gains.lane[i] * quotient(weights.ahead, total.lane[i]) : 0.0f;
    }
    return value;
}

// The same at a node. Where it is locked there is nothing to learn, and a best response has no choice:
// regrets and average are the strategy that is played.
template <int MOST, typename Places, typename Worth>
DEVICE Four learn_node(const Node &node, int mode, const Places &hands, float *stored,
                       const Worth &worth_of, const Weights &weights) {
    const int here = node.locked ? EVALUATE : mode, actions = node.actions;
    return by_actions<MOST>(actions, [&](auto known) {
        return learn_four<known.count>(here, hands, stored, worth_of, weights, actions);
    });
}

// ---- products

#define TALL 8 // rows of a product that a thread works on, four columns each

// sums [TALL][4] += rows [TALL][DEPTH] · four columns of a matrix [DEPTH][WIDTH] in shared memory.
template <int DEPTH, int WIDTH, typename Row>
DEVICE void add_product(Four (&sums)[TALL], const Row &row_of, const float *matrix) {
    UNROLL for (int k = 0; k < DEPTH; k += 4) {
        Four columns[4];
        UNROLL for (int j = 0; j < 4; j++) columns[j] = four(matrix + (k + j) * WIDTH);
        UNROLL for (int r = 0; r < TALL; r++) {
            const Four reach = four(row_of(r) + k);
            UNROLL for (int j = 0; j < 4; j++)
                EACH_LANE sums[r].lane[i] += reach.lane[j] * columns[j].lane[i];
        }
    }
}

// ---- sums over flops, and over the regrets of each, in an order that never changes

#define FLOPS_TOGETHER 64 // flops whose values one thread adds up

struct Values {
    Long pots;
    Long places; // K
    Long hands;
    const float *values;   // [P][K][hands]
    const double *weights; // [K]
    double *parts;         // [P][K / 64][hands]
    double *totals;        // [P][hands]
};
struct Span { // of numbers of a player on a flop: from one to before another
    Long first, end;
};
struct Regrets : Request {
    const Store *stores;  // [P]
    const int *free_first; // [P + 1]: spans before those of each pot
    const Span *free;     // regrets; strategies of locked decisions stand between them
    double *sums;         // [K][P][2]: of the player's regrets
};

// Σ over flops of weight · value: some flops each …
KERNEL sum_flops(const Values *ONLY s) {
    const int parts = (s->places + FLOPS_TOGETHER - 1) / FLOPS_TOGETHER;
    const int part = BLOCK % parts, pot = BLOCK / parts;
    const int first = part * FLOPS_TOGETHER, left = (int)s->places - first;
    const int count = left < FLOPS_TOGETHER ? left : FLOPS_TOGETHER;
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
    const int parts = (s->places + FLOPS_TOGETHER - 1) / FLOPS_TOGETHER;
    for (int hand = THREAD; hand < s->hands; hand += THREADS) {
        double total = 0.0;
#pragma unroll 8
        for (int part = 0; part < parts; part++)
            total += s->parts[((Long)BLOCK * parts + part) * s->hands + hand];
        s->totals[BLOCK * s->hands + hand] = total;
    }
}

// Of a player's regrets of a pot on a flop: the sum of the positive ones, and the largest.
KERNEL sum_regrets(const Regrets *ONLY s) {
    const int pot = modulo(BLOCK, s->pots);
    const Where at = where(s, quotient(BLOCK, s->pots));
    const Store store = s->stores[pot];
    const float *regrets = store.player_regrets + at.flop * store.player_size;
    PositiveRegrets found = {};
    for (int n = s->free_first[pot]; n < s->free_first[pot + 1]; n++) {
        const Span span = s->free[n];
        for (Long each = span.first + THREAD; each < span.end; each += THREADS)
            note(found, regrets[each]);
    }
    add_up(found, s->sums + 2 * (at.whole * s->pots + pot));
}

// The numbers of some hands that are stored from now on, from those of the hands that were.
struct Moved {
    const float *from; // [F][old]
    float *to;         // [F][size]
    Long old, size;
    const int *source; // [size]: where each number stood; −1: nowhere, it is 0
};
KERNEL move_numbers(const Moved *ONLY s) {
    const float *from = s->from + BLOCK * s->old;
    float *to = s->to + BLOCK * s->size;
    for (Long each = THREAD; each < s->size; each += THREADS) {
        const int source = s->source[each];
        to[each] = source < 0 ? 0.0f : from[source];
    }
}

// The next iteration reads the next weights.
KERNEL tick(const Regrets *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->call[0]++;
}
