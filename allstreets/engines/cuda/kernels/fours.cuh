// What the kernels of matrix games share: decisions, four neighbouring hands at a time.
//
// Numbers of a decision stand as [hand / 16][action][16] from its slot on, so that four hands of an
// action are read and written at once.

#ifdef __CUDACC__
#define METHOD __device__ __forceinline__
#else
#define METHOD inline
#endif

#define UPDATE 0
#define BEST_RESPONSE 1

struct Store { // of a pot: arrays by flop, and how long those of one flop are
    float *own_regrets, *own_average, *other_regrets, *other_average;
    Long own_size, other_size;
};
struct Now { // `cfr.IterationWeights`
    float positive, negative, lowest, average, weight, threshold, ahead;
};

// Where a block is: a place among the flops of a pass, and its flop. `S` begins with `ASKED`.
struct Where {
    int place; // in the rooms
    Long whole;
    int flop;
};

template <typename S> DEVICE Where where(const S *ONLY s, int place) {
    Where at;
    at.place = place;
    at.whole = s->firsts[s->part] + place;
    at.flop = s->flop_of[at.whole];
    return at;
}

template <typename S> DEVICE int places_of(const S *ONLY s) {
    return s->firsts[s->part + 1] - s->firsts[s->part];
}

template <typename S> DEVICE Now now_at(const S *ONLY s, const Where &at) {
    return ((const Now *)s->discounts)[s->call[0] + s->call[1] * at.whole];
}

template <typename S> DEVICE bool visited(const S *ONLY s, const Where &at, int pot) {
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
#pragma unroll
    for (int a = 0; a < actions; a++) EACH_LANE total.lane[i] += above(numbers[a].lane[i]);
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

// The other's reach shared out among the actions of his decision; if it `gathers`, the sums of his
// strategy move. Rows stand `stride` apart.
template <int A>
DEVICE void split_four(const float *stored, float *sums, const float *row, float *child, int stride,
                       const Now &now, float least, bool gathers, int run_time) {
    const int actions = A ? A : run_time;
    Four numbers[A ? A : MOST_ACTIONS], old[A ? A : MOST_ACTIONS];
#pragma unroll
    for (int a = 0; a < actions; a++) {
        numbers[a] = four(stored + 16 * a);
        old[a] = four(sums + 16 * a); // read in any case: loads that are sure can be early
    }
    const Four here = four(row);
    const Matching found = matching(numbers, actions);
#pragma unroll
    for (int a = 0; a < actions; a++) {
        const Four chance = chance_of(numbers[a], found);
        Four reach;
        EACH_LANE reach.lane[i] = here.lane[i] * chance.lane[i];
        put(child + a * stride, reach);
        EACH_LANE old[a].lane[i] = now.average * old[a].lane[i] +
                                   now.weight * (here.lane[i] + least) * chance.lane[i];
        if (gathers) put(sums + 16 * a, old[a]);
    }
}

DEVICE void split_actions(int actions, const float *stored, float *sums, const float *row,
                          float *child, int stride, const Now &now, float least, bool gathers) {
    switch (actions) { // known numbers stay in registers
    case 2: split_four<2>(stored, sums, row, child, stride, now, least, gathers, 2); break;
    case 3: split_four<3>(stored, sums, row, child, stride, now, least, gathers, 3); break;
    case 4: split_four<4>(stored, sums, row, child, stride, now, least, gathers, 4); break;
    case 5: split_four<5>(stored, sums, row, child, stride, now, least, gathers, 5); break;
    default: split_four<0>(stored, sums, row, child, stride, now, least, gathers, actions);
    }
}

// An own decision whose action a is worth worth_of(a): its value; regrets move.
template <int A, typename Worth>
DEVICE Four rise_four(int mode, float *stored, const Worth &worth_of, const Now &now, int run_time) {
    const int actions = A ? A : run_time;
    Four numbers[A ? A : MOST_ACTIONS], worth[A ? A : MOST_ACTIONS];
    if (mode != BEST_RESPONSE) {
#pragma unroll
        for (int a = 0; a < actions; a++) numbers[a] = four(stored + 16 * a);
    }
#pragma unroll
    for (int a = 0; a < actions; a++) worth[a] = worth_of(a);
    Four value;
    if (mode == BEST_RESPONSE) {
        value = worth[0];
#pragma unroll
        for (int a = 1; a < actions; a++)
            EACH_LANE value.lane[i] = worth[a].lane[i] > value.lane[i] ? worth[a].lane[i]
                                                                       : value.lane[i];
    } else {
        const Matching found = matching(numbers, actions);
        value = all(0.0f);
#pragma unroll
        for (int a = 0; a < actions; a++) {
            const Four chance = chance_of(numbers[a], found);
            EACH_LANE value.lane[i] += chance.lane[i] * worth[a].lane[i];
        }
    }
    if (mode == UPDATE) {
        Four total = all(0.0f), gains = all(0.0f);
#pragma unroll
        for (int a = 0; a < actions; a++) {
            Four updated;
            EACH_LANE {
                const float old = numbers[a].lane[i], gain = worth[a].lane[i] - value.lane[i];
                const float kept = old * (old > 0.0f ? now.positive : now.negative) + gain;
                updated.lane[i] = kept > now.lowest ? kept : now.lowest;
                total.lane[i] += above(updated.lane[i]);
                gains.lane[i] += above(updated.lane[i]) * gain;
            }
            put(stored + 16 * a, updated);
        }
        EACH_LANE value.lane[i] +=
            total.lane[i] > TINY ? gains.lane[i] * quotient(now.ahead, total.lane[i]) : 0.0f;
    }
    return value;
}

template <typename Worth>
DEVICE Four rise_actions(int actions, int mode, float *stored, const Worth &worth_of,
                         const Now &now) {
    switch (actions) {
    case 2: return rise_four<2>(mode, stored, worth_of, now, 2);
    case 3: return rise_four<3>(mode, stored, worth_of, now, 3);
    case 4: return rise_four<4>(mode, stored, worth_of, now, 4);
    case 5: return rise_four<5>(mode, stored, worth_of, now, 5);
    default: return rise_four<0>(mode, stored, worth_of, now, actions);
    }
}
