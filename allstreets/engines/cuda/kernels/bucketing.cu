// Groups of the hands of river boards, rows of those of turn boards: kernels/group_hands.py,
// group_means.py and group_matrices.py for a GPU, with the same results bit for bit.
//
// Weights are whole numbers: sums of them are exact, in any order. Sums of other numbers run in the
// order of the kernels for processors, and are rounded as there: sum_of, product_of and fused say
// which multiply-adds are one operation.
//
// A block takes the hands of one board, for one player and pair of ranges. Points are [16][STRIDE],
// in shared memory unless POINTS_APART says that there is no room for them.

#define DIMENSIONS 16
#define LANES 16
#define PARTS 8
#define CARDS 52
#define CLASSES 169
#define CLASS_STEP 64
#define CANDIDATES 2
#define MATRIX_ONE 127.0
#define FAR 1e30f
#define SEGMENTS 16    // of the points of a board, whose members of each group are counted apart
#define RIVERS 48      // more than a hand of a turn has places below
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

struct Place { // of a turn's hand on a river
    float equity;
    int mass; // pairs of card and combo that it stands for
};

// ---- k-means

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
#pragma unroll
        for (int step = 0; step < AHEAD; step++) {
            const int point = begin + step * LANES;
            mass[step] = point < m.padded ? product_of(m.weights[point], nearest[point]) : 0.0f;
        }
#pragma unroll
        for (int step = 0; step < AHEAD; step++)
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
#pragma unroll
            for (int d = 0; d < DIMENSIONS; d++) {
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
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        const int point = begin + h * THREADS + THREAD;
        nearest[h] = FAR;
        label[h] = 0;
#pragma unroll
        for (int d = 0; d < DIMENSIONS; d++)
            x[h][d] = point < m.padded ? of_point(m, point, d) : 0.0f;
    }
#pragma unroll 1
    for (int number = 0; number < m.centre_count; number++) {
        const Four *centre = (const Four *)(m.centres + number * DIMENSIONS);
        float away[HELD];
#pragma unroll
        for (int h = 0; h < HELD; h++) away[h] = m.half[number];
#pragma unroll
        for (int four = 0; four < DIMENSIONS / 4; four++) {
            const Four part = centre[four];
#pragma unroll
            for (int lane = 0; lane < 4; lane++)
#pragma unroll
                for (int h = 0; h < HELD; h++)
                    away[h] = fused(x[h][4 * four + lane], -part.lane[lane], away[h]);
        }
#pragma unroll
        for (int h = 0; h < HELD; h++)
            if (away[h] < nearest[h]) {
                nearest[h] = away[h];
                label[h] = number;
            }
    }
#pragma unroll
    for (int h = 0; h < HELD; h++) {
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

// ---- where a block has what

struct Room {
    char *at;
};
template <typename Kind> DEVICE Kind *take(Room &room, int count) {
    Kind *found = (Kind *)room.at;
    room.at += (count * (int)sizeof(Kind) + 15) / 16 * 16;
    return found;
}

DEVICE Means means_of(const Groups *g, Room &room, int centres, const float *draws, int count,
                      int padded) {
    Means m;
    m.count = count;
    m.padded = padded;
    m.centre_count = centres;
    m.rounds = (int)g->rounds;
    m.draws = draws;
    m.stride = (int)g->stride;
#ifdef POINTS_APART
    m.points = g->points + (Long)BLOCK * DIMENSIONS * g->stride; // by block of a launch
#else
    m.points = take<float>(room, DIMENSIONS * m.stride);
#endif
    const int most = (int)g->most;
    m.weights = take<float>(room, most);
    m.centres = take<float>(room, centres * DIMENSIONS);
    m.half = take<float>(room, centres);
    m.sums = take<float>(room, 3 * LANES);
    m.labels = take<Short>(room, 2 * most);
    m.members = take<Short>(room, most);
    m.places = take<Short>(room, centres * SEGMENTS);
    m.ends = take<Short>(room, centres + 1);
    m.word = take<int>(room, 4);
    m.nearest = take<float>(room, 3 * most);
    return m;
}

// ---- profiles

struct Combos { // of one board
    int first, count;
    const Short *strengths, *hands;
    const Byte *cards;
};

DEVICE Combos combos_of(const Groups *g, int board) {
    Combos c;
    c.first = g->combo_start[board];
    c.count = g->combo_start[board + 1] - c.first;
    c.strengths = g->combo_strengths + c.first;
    c.hands = g->combo_hand + c.first;
    c.cards = g->combo_cards + 2 * (Long)c.first;
    return c;
}

DEVICE int class_of(const Groups *g, const Combos &c, int combo) {
    return g->hand_class[CLASS_STEP * c.cards[2 * combo] + c.cards[2 * combo + 1]];
}

// How many of the first `count` of rising numbers are below `limit`.
DEVICE int rank_of(const Short *numbers, int count, int limit) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (numbers[middle] < limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The combos that hold each card, in order: `holders` from card_first[card] on.
DEVICE void list_by_card(const Combos &c, Short *card_first, Short *holders) {
    for (int card = THREAD; card < CARDS; card += THREADS) {
        int found = 0;
        for (int combo = 0; combo < c.count; combo++)
            found += c.cards[2 * combo] == card || c.cards[2 * combo + 1] == card;
        card_first[card + 1] = (Short)found;
    }
    SYNC();
    if (THREAD == 0) {
        card_first[0] = 0;
        for (int card = 0; card < CARDS; card++) card_first[card + 1] += card_first[card];
    }
    SYNC();
    for (int card = THREAD; card < CARDS; card += THREADS) {
        int at = card_first[card];
        for (int begin = 0; begin < c.count; begin += AHEAD) {
            bool holds[AHEAD];
#pragma unroll
            for (int step = 0; step < AHEAD; step++) {
                const int combo = begin + step;
                holds[step] = combo < c.count && (c.cards[2 * combo] == card ||
                                                  c.cards[2 * combo + 1] == card);
            }
#pragma unroll
            for (int step = 0; step < AHEAD; step++)
                if (holds[step]) holders[at++] = (Short)(begin + step);
        }
    }
    SYNC();
}

struct Range { // of the other player, on one board
    int *weights;    // [combos]
    int *upto;       // [combos + 1]: sums before each
    Byte *parts;     // [combos]
    Short *holders;  // [2 · combos]: those with each card, in order
    int *held;       // [2 · combos + CARDS]: sums before each, card by card
    Short *card_first;  // [CARDS + 1]
    int *part_total; // [PARTS], and before [SEGMENTS]
    int *part_card;  // [CARDS][PARTS]
};

DEVICE int weight_below(const Range &r, int card, int combo) { // of those with a card
    const int first = r.card_first[card], count = r.card_first[card + 1] - first;
    return r.held[first + card + rank_of(r.holders + first, count, combo)];
}

DEVICE void read_range(const Groups *g, const Combos &c, const int *by_class, Range &r) {
    for (int combo = THREAD; combo < c.count; combo += THREADS)
        r.weights[combo] = by_class[class_of(g, c, combo)];
    SYNC();
    // Sums of runs of combos, of the runs before each, and then within.
    const int run = (c.count + SEGMENTS - 1) / SEGMENTS;
    for (int segment = THREAD; segment < SEGMENTS; segment += THREADS) {
        int sum = 0;
        for (int combo = segment * run; combo < (segment + 1) * run && combo < c.count; combo++)
            sum += r.weights[combo];
        r.part_total[segment] = sum;
    }
    list_by_card(c, r.card_first, r.holders);
    for (int segment = THREAD; segment < SEGMENTS; segment += THREADS) {
        int sum = 0;
        for (int before = 0; before < segment; before++) sum += r.part_total[before];
        for (int combo = segment * run; combo < (segment + 1) * run && combo < c.count; combo++) {
            r.upto[combo] = sum;
            sum += r.weights[combo];
        }
        if (segment == SEGMENTS - 1) r.upto[c.count] = sum;
    }
    SYNC();
    const double total = r.upto[c.count];
    const double cuts[PARTS] = {0.0, 0.25, 0.5, 0.65, 0.75, 0.85, 0.92, 0.97};
    for (int combo = THREAD; combo < c.count; combo += THREADS) {
        const double below = r.upto[rank_of(c.strengths, c.count, c.strengths[combo])];
        int part = 0;
        while (part < PARTS - 1 && below >= product_of(cuts[part + 1], total)) part++;
        r.parts[combo] = (Byte)part;
    }
    SYNC();
    for (int card = THREAD; card < CARDS; card += THREADS) {
        const int begin = r.card_first[card], end = r.card_first[card + 1];
        int *held = r.held + begin + card, *sums = r.part_card + card * PARTS, sum = 0;
        for (int part = 0; part < PARTS; part++) sums[part] = 0;
        for (int at = begin; at < end; at++) {
            const int combo = r.holders[at];
            *held++ = sum;
            sum += r.weights[combo];
            sums[r.parts[combo]] += r.weights[combo];
        }
        *held = sum;
    }
    for (int part = THREAD; part < PARTS; part += THREADS) {
        // Parts are runs of combos.
        int low = 0, high = c.count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (r.parts[middle] < part) low = middle + 1;
            else high = middle;
        }
        int end = low, top = c.count;
        while (end < top) {
            const int middle = (end + top) / 2;
            if (r.parts[middle] <= part) end = middle + 1;
            else top = middle;
        }
        r.part_total[part] = r.upto[end] - r.upto[low];
    }
    SYNC();
}

// `bucket_hands.board_profiles`
DEVICE void take_profiles(const Combos &c, const Range &r, const Means &m, float *equity) {
    const double total = r.upto[c.count], scale = total > 0.0 ? 1.0 / total : 0.0;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        if (hand >= m.count) {
            for (int d = 0; d < DIMENSIONS; d++) m.points[d * m.stride + hand] = 0.0f;
            continue;
        }
        const int same = rank_of(c.hands, c.count, hand); // its first combo
        const int a = c.cards[2 * same], b = c.cards[2 * same + 1], strength = c.strengths[same];
        const int weaker = rank_of(c.strengths, c.count, strength);
        const int through = rank_of(c.strengths, c.count, strength + 1);
        const int own = r.parts[weaker], weight = r.weights[same];
        int met = 0, rest = 0;
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            int mass = r.part_total[part] - r.part_card[a * PARTS + part] -
                       r.part_card[b * PARTS + part];
            if (r.parts[same] == part) mass += weight;
            const int sign = part < own ? mass : -mass;
            met += mass;
            rest += part == own ? 0 : sign;
            m.points[part * m.stride + hand] = (float)product_of((double)sign, scale);
            m.points[(PARTS + part) * m.stride + hand] = (float)product_of((double)mass, scale);
        }
        const int won = r.upto[weaker] - weight_below(r, a, weaker) - weight_below(r, b, weaker);
        const int not_lost = r.upto[through] - weight_below(r, a, through) -
                             weight_below(r, b, through) + weight;
        const int margin = won - (met - not_lost);
        m.points[own * m.stride + hand] = (float)product_of((double)(margin - rest), scale);
        equity[hand] = (float)(met > 0 ? (double)margin / (double)met : 0.0);
    }
}

// A block groups the hands of a board for a player and a pair of ranges.
SMALL_KERNEL(GROUPERS, 2) group_rivers(const Groups *ONLY g) {
    SHARED(shared);
    const int number = (int)g->first_block + BLOCK;
    const int board = number % (int)g->boards, player = number / (int)g->boards % 2;
    const int set = number / (int)g->boards / 2;
    const int first = g->start[board], groups = (int)g->groups;
    const Combos c = combos_of(g, board);
    Room room = {(char *)shared};
    const Means m = means_of(g, room, groups, g->group_draws, g->count[board],
                             g->start[board + 1] - first);
    const int combos = (int)g->most_combos;
    Room profiles = {(char *)m.weights}; // in the place of all but points, which comes later
    Range r;
    r.weights = take<int>(profiles, combos);
    r.upto = take<int>(profiles, combos + 1);
    r.held = take<int>(profiles, 2 * combos + CARDS);
    r.part_total = take<int>(profiles, SEGMENTS);
    r.part_card = take<int>(profiles, CARDS * PARTS);
    r.holders = take<Short>(profiles, 2 * combos);
    r.card_first = take<Short>(profiles, CARDS + 1);
    r.parts = take<Byte>(profiles, combos);
    read_range(g, c, g->class_weights + (2 * set + 1 - player) * CLASSES, r);
    const Long all = (Long)(2 * set + player) * g->hands + first;
    take_profiles(c, r, m, g->equity + all);
    SYNC();
    const int *own = g->class_weights + (2 * set + player) * CLASSES;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        int weight = 0;
        if (hand < m.count)
            for (int combo = rank_of(c.hands, c.count, hand);
                 combo < c.count && c.hands[combo] == hand; combo++)
                weight += own[class_of(g, c, combo)];
        m.weights[hand] = (float)weight;
    }
    SYNC();
    cluster(m);
    // The margin over the whole range puts the groups in order.
    for (int group = THREAD; group < groups; group += THREADS) {
        float margin = 0.0f;
        for (int part = 0; part < PARTS; part++)
            margin = sum_of(margin, m.centres[group * DIMENSIONS + part]);
        m.half[group] = margin;
    }
    SYNC();
    for (int group = THREAD; group < groups; group += THREADS) {
        int below = 0;
        for (int other = 0; other < groups; other++)
            below += m.half[other] < m.half[group] ||
                     (m.half[other] == m.half[group] && other < group);
        m.ends[group] = (Short)below;
    }
    SYNC();
    for (int hand = THREAD; hand < m.count; hand += THREADS)
        g->marks[all + hand] = (Byte)m.ends[m.labels[hand]];
}

// ---- rows of turns

// A block gives the hands of a turn board their rows, for a player and a pair of ranges.
SMALL_KERNEL(GROUPERS, 1) row_turns(const Groups *ONLY g) {
    SHARED(shared);
    const int number = (int)g->first_block + BLOCK;
    const int board = number % (int)g->turns, player = number / (int)g->turns % 2;
    const int set = number / (int)g->turns / 2;
    const int first = g->turn_start[board], rows = (int)g->rows;
    Byte *marks = g->turn_marks + (Long)(2 * set + player) * g->turn_hands + first;
    const int hands = g->turn_count[board];
    if (hands <= rows) {
        for (int hand = THREAD; hand < hands; hand += THREADS) marks[hand] = (Byte)hand;
        return;
    }
    Room room = {(char *)shared};
    const Means m = means_of(g, room, rows, g->row_draws, hands, g->turn_start[board + 1] - first);
    // What the rivers leave each hand with, [RIVERS][hands]: in any order.
    int *seen = (int *)m.nearest, *total = seen + m.padded;
    Place *places = g->places + (Long)BLOCK * RIVERS * g->most;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) seen[hand] = total[hand] = 0;
    SYNC();
    const float *equity = g->equity + (Long)(2 * set + player) * g->hands;
    const int from = g->start[g->children[board]], to = g->start[g->children[board + 1]];
    for (int place = from + THREAD; place < to; place += THREADS) {
        if (!g->mass[place]) continue; // padding
        const int hand = g->hand_parent[place];
        const int at = take_next(seen + hand);
        add_exactly(total + hand, g->mass[place]);
        places[(Long)at * g->most + hand].equity = equity[place];
        places[(Long)at * g->most + hand].mass = g->mass[place];
    }
    SYNC();
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        for (int d = 0; d < DIMENSIONS; d++) m.points[d * m.stride + hand] = 0.0f;
        const int count = hand < hands ? seen[hand] : 0, all = total[hand];
        for (int mine = 0; mine < count; mine++) {
            const Place here = places[(Long)mine * g->most + hand];
            int below = 0;
            for (int other = 0; other < count; other++) {
                const Place there = places[(Long)other * g->most + hand];
                const bool less = there.equity < here.equity ||
                                  (there.equity == here.equity && other < mine);
                below += less ? there.mass : 0;
            }
            for (int d = 0; d < DIMENSIONS; d++) {
                const int wanted = (2 * d + 1) * all;
                if (2 * DIMENSIONS * below < wanted &&
                    wanted <= 2 * DIMENSIONS * (below + here.mass))
                    m.points[d * m.stride + hand] = here.equity;
            }
        }
    }
    const int begin = g->turn_combo_start[board];
    const int combos = g->turn_combo_start[board + 1] - begin;
    const Short *of_combo = g->turn_combo_hand + begin;
    const Byte *cards = g->turn_combo_cards + 2 * (Long)begin;
    const int *own = g->class_weights + (2 * set + player) * CLASSES;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        int weight = 0;
        if (hand < hands)
            for (int combo = rank_of(of_combo, combos, hand);
                 combo < combos && of_combo[combo] == hand; combo++)
                weight += own[g->hand_class[CLASS_STEP * cards[2 * combo] + cards[2 * combo + 1]]];
        m.weights[hand] = (float)weight;
    }
    SYNC();
    cluster(m);
    for (int hand = THREAD; hand < hands; hand += THREADS) marks[hand] = (Byte)m.labels[hand];
}

// ---- matrices and lists

struct Side { // a player's combos on one board
    Short *groups;  // [combos]
    int *weights;   // [combos]
    Short *members; // [combos]: by group, and in order of strength within it
    Short *ends;    // [groups + 1]
    int *totals;    // [groups]
};

// The combos of a board by group, and by their hand on the turn within it.
DEVICE void list_groups(const Groups *g, const Combos &c, int board, int row, Short *places,
                        const Side &s) {
    const int groups = (int)g->groups, first = g->start[board];
    const Byte *marks = g->marks + row * g->hands + first;
    const int *by_class = g->class_weights + row * CLASSES;
    for (int combo = THREAD; combo < c.count; combo += THREADS) {
        s.groups[combo] = marks[c.hands[combo]];
        s.weights[combo] = by_class[class_of(g, c, combo)];
    }
    SYNC();
    list_members(s.groups, c.count, groups, places, s.ends, s.members);
    Short *parent = g->parent + row * g->combos + c.first;
    for (int place = THREAD; place < c.count; place += THREADS) {
        const int combo = s.members[place], group = s.groups[combo];
        const int above = g->hand_parent[first + c.hands[combo]];
        int before = s.ends[group];
        for (int other = s.ends[group]; other < s.ends[group + 1]; other++) {
            const int his = g->hand_parent[first + c.hands[s.members[other]]];
            before += his < above || (his == above && other < place);
        }
        parent[before] = (Short)above;
    }
    Short *begin = g->first + (row * g->boards + board) * (groups + 1);
    for (int group = THREAD; group <= groups; group += THREADS) begin[group] = s.ends[group];
    for (int group = THREAD; group < groups; group += THREADS) {
        int total = 0;
        for (int place = s.ends[group]; place < s.ends[group + 1]; place++)
            total += s.weights[s.members[place]];
        s.totals[group] = total;
    }
    SYNC();
}

// Pairs of a group of OOP's and one of IP's, whether they share a card or not: won − lost.
DEVICE Long won_in_all(const Combos &c, const Side &oop, const Side &ip, int row, int column) {
    int below = ip.ends[column], upto = below, net = -ip.totals[column];
    const int end = ip.ends[column + 1];
    Long won = 0;
    for (int place = oop.ends[row]; place < oop.ends[row + 1]; place++) {
        const int mine = oop.members[place], strength = c.strengths[mine];
        for (; below < end && c.strengths[ip.members[below]] < strength; below++)
            net += ip.weights[ip.members[below]];
        for (; upto < end && c.strengths[ip.members[upto]] <= strength; upto++)
            net += ip.weights[ip.members[upto]];
        won += (Long)oop.weights[mine] * net;
    }
    return won;
}

// `bucket_matrices`: a block takes a board and a pair of ranges.
SMALL_KERNEL(PAIRERS, 2) pair_groups(const Groups *ONLY g) {
    SHARED(shared);
    const int board = BLOCK % (int)g->boards, set = BLOCK / (int)g->boards;
    const int groups = (int)g->groups, combos = (int)g->most_combos, tile = (int)g->tile;
    Combos c = combos_of(g, board);
    Room room = {(char *)shared};
    Side oop, ip;
    oop.groups = take<Short>(room, combos);
    oop.weights = take<int>(room, combos);
    oop.members = take<Short>(room, combos);
    oop.ends = take<Short>(room, groups + 1);
    oop.totals = take<int>(room, groups);
    ip.groups = take<Short>(room, combos);
    ip.weights = take<int>(room, combos);
    ip.members = take<Short>(room, combos);
    ip.ends = take<Short>(room, groups + 1);
    ip.totals = take<int>(room, groups);
    Short *places = take<Short>(room, groups * SEGMENTS), *strengths = take<Short>(room, combos);
    Short *holders = take<Short>(room, 2 * combos), *card_first = take<Short>(room, CARDS + 1);
    Long *won = take<Long>(room, tile * groups), *shared_pairs = take<Long>(room, tile * groups);
    for (int combo = THREAD; combo < c.count; combo += THREADS)
        strengths[combo] = c.strengths[combo];
    c.strengths = strengths;
    list_by_card(c, card_first, holders);
    list_groups(g, c, board, 2 * set, places, oop);
    list_groups(g, c, board, 2 * set + 1, places, ip);
    for (int row = 0; row < groups; row += tile) {
        const int rows = row + tile < groups ? tile : groups - row;
        for (int item = THREAD; item < rows * groups; item += THREADS) {
            won[item] = won_in_all(c, oop, ip, row + item / groups, item % groups);
            shared_pairs[item] = 0;
        }
        SYNC();
        // Pairs that share a card are taken off again.
        const int begin = oop.ends[row], count = oop.ends[row + rows] - begin;
        for (int item = THREAD; item < 2 * count; item += THREADS) {
            const int mine = oop.members[begin + item / 2], side = item % 2;
            const int card = c.cards[2 * mine + side], strength = strengths[mine];
            const int at = (oop.groups[mine] - row) * groups, weight = oop.weights[mine];
            for (int place = card_first[card]; place < card_first[card + 1]; place++) {
                const int his = holders[place];
                if (side == 1 && his == mine) continue; // the combo itself holds both cards
                const Long both = (Long)weight * ip.weights[his];
                add_exactly(shared_pairs + at + ip.groups[his], both);
                if (strengths[his] != strength)
                    add_exactly(won + at + ip.groups[his], strengths[his] < strength ? -both : both);
            }
        }
        SYNC();
        const Long out = (((Long)set * g->boards + board) * groups + row) * groups;
        for (int item = THREAD; item < rows * groups; item += THREADS) {
            const Long mine = oop.totals[row + item / groups], all = mine * ip.totals[item % groups];
            double margin = 0.0, pairs = 0.0;
            if (all > 0) {
                const double fits = (double)(all - shared_pairs[item]);
                margin = product_of(MATRIX_ONE, (double)won[item]) / (double)all;
                pairs = product_of(MATRIX_ONE, fits) / (double)all;
            }
            g->margin[out + item] = (signed char)rint(margin);
            g->pairs[out + item] = (signed char)rint(pairs);
        }
        SYNC();
    }
}
