// k-means on the hands of a board, by one block: `boards/kernels/bucket_means.py` for a GPU, with the
// same results bit for bit.
//
// Sums of numbers that are not whole run in the order of the kernels for processors, and are rounded
// as there: sum_of, product_of and fused say which multiply-adds are one operation.

#include "common.cuh"

#define DIMENSIONS 16
#define LANES 16
#define CANDIDATES 2
#define FAR 1e30f
#define SEGMENTS 16    // of the points of a board, whose members of each bucket are counted apart
#define AHEAD 8        // numbers of a running sum that are read at once

#ifdef __CUDACC__
DEVICE float product_of(float a, float b) { return __fmul_rn(a, b); }
DEVICE float sum_of(float a, float b) { return __fadd_rn(a, b); }
DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE double product_of(double a, double b) { return __dmul_rn(a, b); }
DEVICE void add_exactly(Long *place, Long number) {
    atomicAdd((unsigned long long *)place, (unsigned long long)number);
}
DEVICE void add_exactly(int *place, int number) { atomicAdd(place, number); }
DEVICE int take_next(int *place) { return atomicAdd(place, 1); }
#else // compiled without contractions
DEVICE float product_of(float a, float b) { return a * b; }
DEVICE float sum_of(float a, float b) { return a + b; }
DEVICE float fused(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE double product_of(double a, double b) { return a * b; }
DEVICE void add_exactly(Long *place, Long number) {
    __atomic_fetch_add(place, number, __ATOMIC_RELAXED);
}
DEVICE void add_exactly(int *place, int number) {
    __atomic_fetch_add(place, number, __ATOMIC_RELAXED);
}
DEVICE int take_next(int *place) { return __atomic_fetch_add(place, 1, __ATOMIC_RELAXED); }
#endif

struct Means { // of one block
    float *points;   // [16][stride]
    int stride, count, padded, centre_count, rounds;
    const float *draws;  // [centres][CANDIDATES]
    float *weights;  // [padded]
    float *nearest;  // [1 + CANDIDATES][padded]: squared distances, and those that candidates leave
    float *sums;     // [1 + CANDIDATES][LANES]: weight × distance²
    float *centres;  // [centres][16]
    float *half;     // [centres]: |c|² / 2
    Short *labels;   // [2][padded]: now, and before
    Short *members;  // [padded]: points by label
    Short *places;   // [centres][SEGMENTS]: where the members of a segment go
    Short *ends;     // [centres + 1]
    int *word;       // [4]: what threads tell each other
};

DEVICE float of_point(const Means &m, int point, int d) { return m.points[d * m.stride + point]; }

DEVICE float whole_sum(const float *sums) {
    float whole = 0.0f;
    for (int lane = 0; lane < LANES; lane++) whole = sum_of(whole, sums[lane]);
    return whole;
}

// `bucket_means.drawn`, from the distances and sums in use
DEVICE int drawn(const Means &m, const float *nearest, const float *sums, float wanted) {
    int lane = 0, found = 0;
    float below = 0.0f;
    for (; lane < LANES; lane++) {
        if (sums[lane] > 0.0f) {
            found = lane;
            if (sum_of(below, sums[lane]) > wanted) break;
            below = sum_of(below, sums[lane]);
        }
    }
    if (lane == LANES) wanted = FAR;
    int chosen = found;
    for (int begin = found; begin < m.padded; begin += AHEAD * LANES) {
        float mass[AHEAD]; // read before they are waited for
        UNROLL for (int step = 0; step < AHEAD; step++) {
            const int point = begin + step * LANES;
            mass[step] = point < m.padded ? product_of(m.weights[point], nearest[point]) : 0.0f;
        }
        UNROLL for (int step = 0; step < AHEAD; step++)
            if (mass[step] > 0.0f && !(below > wanted)) {
                chosen = begin + step * LANES;
                below = sum_of(below, mass[step]);
            }
        if (below > wanted) break;
    }
    return chosen;
}

// Sums of weight × nearest by lane, of `count` rows from `first` on.
DEVICE void sum_lanes(const Means &m, int first, int count) {
    for (int item = THREAD; item < count * LANES; item += THREADS) {
        const int row = first + item / LANES, lane = item % LANES;
        const float *nearest = m.nearest + row * m.padded;
        float mass = 0.0f;
#pragma unroll 4
        for (int point = lane; point < m.padded; point += LANES)
            mass = sum_of(mass, product_of(m.weights[point], nearest[point]));
        m.sums[row * LANES + lane] = mass;
    }
}

// Row 0 of `nearest` and `sums` is what counts, and `use` says which row that is now.
DEVICE void seed_centres(const Means &m) {
    int use = 0;
    for (int point = THREAD; point < m.padded; point += THREADS) m.nearest[point] = 1.0f;
    SYNC();
    sum_lanes(m, 0, 1);
    SYNC();
    for (int number = 0; number < m.centre_count; number++) {
        float *now = m.nearest + use * m.padded;
        for (int candidate = THREAD; candidate < CANDIDATES; candidate += THREADS) {
            const float whole = whole_sum(m.sums + use * LANES);
            const float wanted = product_of(m.draws[number * CANDIDATES + candidate], whole);
            m.word[candidate] = drawn(m, now, m.sums + use * LANES, wanted);
        }
        SYNC();
        const int one = m.word[0], two = m.word[1];
        const int row_one = (use + 1) % 3, row_two = (use + 2) % 3;
        for (int point = THREAD; point < m.padded; point += THREADS) {
            float away = 0.0f, other = 0.0f;
            UNROLL for (int d = 0; d < DIMENSIONS; d++) {
                const float *x = m.points + d * m.stride;
                const float step = x[point] - x[one], further = x[point] - x[two];
                away = fused(step, step, away);
                other = fused(further, further, other);
            }
            const float before = number ? now[point] : FAR;
            m.nearest[row_one * m.padded + point] = away < before ? away : before;
            m.nearest[row_two * m.padded + point] = other < before ? other : before;
        }
        SYNC();
        if (row_one < row_two) sum_lanes(m, row_one, 2);
        else { // rows 2 and 0
            sum_lanes(m, 0, 1);
            sum_lanes(m, 2, 1);
        }
        SYNC();
        const bool first = whole_sum(m.sums + row_one * LANES) <= whole_sum(m.sums + row_two * LANES);
        use = first ? row_one : row_two;
        const int chosen = first ? one : two;
        for (int d = THREAD; d < DIMENSIONS; d += THREADS)
            m.centres[number * DIMENSIONS + d] = of_point(m, chosen, d);
        SYNC();
    }
}

// The nearest centre of HELD points for each thread, the first of equals.
template <int HELD> DEVICE void label_points(const Means &m, int begin) {
    float x[HELD][DIMENSIONS], nearest[HELD];
    int label[HELD];
    UNROLL for (int h = 0; h < HELD; h++) {
        const int point = begin + h * THREADS + THREAD;
        nearest[h] = FAR;
        label[h] = 0;
        UNROLL for (int d = 0; d < DIMENSIONS; d++)
            x[h][d] = point < m.padded ? of_point(m, point, d) : 0.0f;
    }
#pragma unroll 1
    for (int number = 0; number < m.centre_count; number++) {
        const Four *centre = (const Four *)(m.centres + number * DIMENSIONS);
        float away[HELD];
        UNROLL for (int h = 0; h < HELD; h++) away[h] = m.half[number];
        UNROLL for (int four = 0; four < DIMENSIONS / 4; four++) {
            const Four part = centre[four];
            UNROLL for (int lane = 0; lane < 4; lane++)
                UNROLL for (int h = 0; h < HELD; h++)
                    away[h] = fused(x[h][4 * four + lane], -part.lane[lane], away[h]);
        }
        UNROLL for (int h = 0; h < HELD; h++)
            if (away[h] < nearest[h]) {
                nearest[h] = away[h];
                label[h] = number;
            }
    }
    UNROLL for (int h = 0; h < HELD; h++) {
        const int point = begin + h * THREADS + THREAD;
        if (point < m.padded) {
            const bool moved = m.labels[m.padded + point] != label[h];
            if (moved && point < m.count) m.word[0] = 1; // any of them may say so
            m.labels[point] = m.labels[m.padded + point] = (Short)label[h];
        }
    }
}

// The nearest centre of every point; whether any has changed is in word[0].
DEVICE void find_nearest(const Means &m) {
    for (int number = THREAD; number < m.centre_count; number += THREADS) {
        float size = 0.0f;
        for (int d = 0; d < DIMENSIONS; d++) {
            const float c = m.centres[number * DIMENSIONS + d];
            size = sum_of(size, product_of(c, c));
        }
        m.half[number] = product_of(0.5f, size);
    }
    if (THREAD == 0) m.word[0] = 0;
    SYNC();
    int begin = 0;
    for (; m.padded - begin > THREADS; begin += 4 * THREADS) label_points<4>(m, begin);
    if (begin < m.padded) label_points<1>(m, begin);
    SYNC();
}

// The items of each of `kinds`, in order: `items` by kind, from ends[kind] on.
DEVICE void list_members(const Short *labels, int count, int kinds, Short *places, Short *ends,
                         Short *items) {
    const int part = (count + SEGMENTS - 1) / SEGMENTS;
    for (int item = THREAD; item < kinds * SEGMENTS; item += THREADS) {
        const int kind = item / SEGMENTS, begin = item % SEGMENTS * part;
        const int end = begin + part < count ? begin + part : count;
        int found = 0;
        for (int place = begin; place < end; place++) found += labels[place] == kind;
        places[item] = (Short)found;
    }
    SYNC();
    for (int kind = THREAD; kind < kinds; kind += THREADS) {
        int before = 0;
        for (int segment = 0; segment < SEGMENTS; segment++) {
            const int found = places[kind * SEGMENTS + segment];
            places[kind * SEGMENTS + segment] = (Short)before;
            before += found;
        }
        ends[kind + 1] = (Short)before;
    }
    SYNC();
    if (THREAD == 0) {
        int before = 0;
        ends[0] = 0;
        for (int kind = 0; kind < kinds; kind++) {
            before += ends[kind + 1];
            ends[kind + 1] = (Short)before;
        }
    }
    SYNC();
    for (int item = THREAD; item < kinds * SEGMENTS; item += THREADS) {
        const int kind = item / SEGMENTS, begin = item % SEGMENTS * part;
        const int end = begin + part < count ? begin + part : count;
        int at = ends[kind] + places[item];
        for (int place = begin; place < end; place++)
            if (labels[place] == kind) items[at++] = (Short)place;
    }
    SYNC();
}

// Centres without points go, one after the other, to those that add most to what is left.
DEVICE void fill_empty(const Means &m) {
    float *left = m.nearest, *best = m.nearest + m.padded; // what seeding used
    int *where = (int *)(m.nearest + 2 * m.padded);
    for (int point = THREAD; point < m.count; point += THREADS) {
        float away = 0.0f;
        for (int d = 0; d < DIMENSIONS; d++) {
            const float c = m.centres[m.labels[point] * DIMENSIONS + d];
            const float step = of_point(m, point, d) - c;
            away = sum_of(away, product_of(step, step));
        }
        left[point] = product_of(m.weights[point], away);
    }
    SYNC();
    for (int number = 0; number < m.centre_count; number++) {
        if (m.ends[number] < m.ends[number + 1]) continue;
        // Of each of so many runs of points the first best, and then of these.
        const int runs = LANES, run = (m.count + runs - 1) / runs;
        for (int item = THREAD; item < runs; item += THREADS) {
            best[item] = -1.0f;
            where[item] = 0;
            for (int point = item * run; point < (item + 1) * run && point < m.count; point++)
                if (left[point] > best[item]) {
                    best[item] = left[point];
                    where[item] = point;
                }
        }
        SYNC();
        int worst = 0;
        for (int item = 1; item < runs; item++)
            if (best[item] > best[worst]) worst = item;
        worst = where[worst];
        SYNC();
        if (THREAD == 0) left[worst] = 0.0f;
        for (int d = THREAD; d < DIMENSIONS; d += THREADS)
            m.centres[number * DIMENSIONS + d] = of_point(m, worst, d);
        SYNC();
    }
}

DEVICE void move_centres(const Means &m) {
    list_members(m.labels, m.count, m.centre_count, m.places, m.ends, m.members);
    bool empty = false;
    for (int number = 0; number < m.centre_count; number++)
        empty |= m.ends[number] == m.ends[number + 1];
    if (empty) fill_empty(m); // before the others move
    for (int item = THREAD; item < m.centre_count * DIMENSIONS; item += THREADS) {
        const int number = item / DIMENSIONS, d = item % DIMENSIONS;
        const int begin = m.ends[number], end = m.ends[number + 1];
        if (begin == end) continue;
        float sum = 0.0f, mass = 0.0f;
        for (int place = begin; place < end; place++) {
            const int point = m.members[place];
            mass = sum_of(mass, m.weights[point]);
            sum = sum_of(sum, product_of(m.weights[point], of_point(m, point, d)));
        }
        m.centres[item] = sum / mass;
    }
    SYNC();
}

// `bucket_means.cluster`
DEVICE void cluster(const Means &m) {
    seed_centres(m);
    for (int point = THREAD; point < m.padded; point += THREADS)
        m.labels[m.padded + point] = 65535;
    SYNC();
    for (int round = 0; round < m.rounds; round++) {
        find_nearest(m);
        const bool changed = m.word[0];
        SYNC();
        if (!changed) break;
        move_centres(m);
    }
}
