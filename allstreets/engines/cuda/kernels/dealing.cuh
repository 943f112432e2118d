// Between turn and river: hands into groups, and the values of groups to hands.
//
// A block takes WIDE lines of a turn board. Its numbers stand in shared memory by hand, or by river
// board and group, WIDE lines side by side: eight neighbouring threads read the same 128 bytes. Lists
// are filled up to fours with a place that holds zeros, and read four at a time.
//
// An iteration reads every number of a line and hand as often as it has combos and river boards: for
// 16 bytes of shared memory two bytes of the lists, a quarter of a load.

struct alignas(8) Places {
    Short at[4];
};

// Where four lines of a hand, or of a group, stand; neighbours are in different banks.
DEVICE float *lines_at(float *memory, int place, int quad) {
    return memory + WIDE * place + 4 * (quad ^ place % (WIDE / 4));
}

DEVICE bool lanes_visited(const Boards *ONLY s, int flop, int lanes) {
    bool some = false;
    for (int lane = 0; lane < WIDE && WIDE * lanes + lane < s->leaves; lane++)
        some |= visited(s, flop, s->leaf_pot[WIDE * lanes + lane]);
    return some;
}

// The sum over a list of places, from a four to another.
DEVICE Four sum_places(float *memory, const Places *list, int from, int upto, int quad, Four sum) {
#pragma unroll 2
    for (int each = from; each < upto; each++) {
        const Places places = list[each];
        EACH_LANE sum = sum + four(lines_at(memory, places.at[i], quad));
    }
    return sum;
}

// Every group of a river board gets the sum over its combos' reach on the turn. A thread works on four
// lines of four groups.
SMALL_KERNEL(MOVERS, 1) deal(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = BLOCK % s->lane_groups, board = s->first_board + BLOCK / s->lane_groups;
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->start[board], hands = hands_on(s->start, board), lines = s->leaves;
    const float *rows = s->reach + (Long)first * s->reach_rows;
    const int *leaf_reach = s->leaf_reach;
    for (int task = THREAD; task < hands * (WIDE / 4); task += THREADS) {
        const int hand = task % hands, quad = task / hands, line = WIDE * lanes + 4 * quad;
        float *to = lines_at(memory, hand, quad);
        const float *from[4];
        EACH_LANE from[i] = rows + (Long)(line + i < lines ? leaf_reach[line + i] : 0) * hands + hand;
        EACH_LANE if (line + i < lines) copy_number_soon(to + i, from[i]);
        else to[i] = 0.0f;
    }
    for (int quad = THREAD; quad < WIDE / 4; quad += THREADS)
        put(lines_at(memory, hands, quad), all(0.0f)); // of places that fill up lists
    ALL_COPIED();
    SYNC();
    const int river = s->children[board], tasks = (s->children[board + 1] - river) * QUARTERS * WIDE / 4;
    const int *combos = s->other_combos;
    const Short *first_of = s->other_first;
    const Places *every = (const Places *)s->other_parent;
    float *to_lines = s->line_rows;
    for (int task = THREAD; task < tasks; task += THREADS) {
        const int quad = task % (WIDE / 4), group = task / (WIDE / 4) % QUARTERS * 4;
        const int below = river + task / (WIDE / 4) / QUARTERS, line = WIDE * lanes + 4 * quad;
        if (line >= lines) continue;
        const Short *bounds = first_of + (Long)below * (GROUPS + 1) + group;
        const Places *places = every + combos[below];
        Four sums[4];
        EACH_LANE sums[i] = sum_places(memory, places, bounds[i], bounds[i + 1], quad, all(0.0f));
        float *to = to_lines + ((Long)below * lines + line) * GROUPS + group;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            Four turned;
            EACH_LANE turned.lane[i] = sums[i].lane[j];
            if (line + j < lines) put(to + j * GROUPS, turned);
        }
    }
}

// The leaves of a turn: a hand gets the values of its groups on the rivers, some boards at a time. A
// thread works on four lines of two hands.
SMALL_KERNEL(MOVERS, 1) collect(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = BLOCK % s->lane_groups, board = s->first_board + BLOCK / s->lane_groups;
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->start[board], hands = hands_on(s->start, board), lines = s->leaves;
    float *rows = s->values + (Long)first * s->value_rows;
    const int last = s->children[board + 1], parts = s->parts;
    const float *line_rows = s->line_rows;
    const Places *entries = (const Places *)s->entries;
    for (int part = 0; part < parts; part++) {
        const int river = s->children[board] + part * s->part;
        const int left = last - river, count = left < s->part ? left : s->part;
        if (count <= 0) break;
        const int places = count * GROUPS;
        for (int task = THREAD; task < places * (WIDE / 4); task += THREADS) {
            const int place = task % places, quad = task / places, line = WIDE * lanes + 4 * quad;
            const Long below = river + place / GROUPS;
            float *to = lines_at(memory, place, quad);
            const float *from = line_rows + (below * lines + line) * GROUPS + place % GROUPS;
            EACH_LANE if (line + i < lines) copy_number_soon(to + i, from + i * GROUPS);
            else to[i] = 0.0f;
        }
        for (int quad = THREAD; quad < WIDE / 4; quad += THREADS)
            put(lines_at(memory, s->part * GROUPS, quad), all(0.0f));
        ALL_COPIED();
        SYNC();
        for (int task = THREAD; task < hands / 2 * (WIDE / 4); task += THREADS) {
            const int quad = task % (WIDE / 4), hand = task / (WIDE / 4) * 2;
            const int line = WIDE * lanes + 4 * quad;
            if (line >= lines) continue;
            Four sums[2];
#pragma unroll
            for (int two = 0; two < 2; two++) {
                Four before = all(0.0f);
                if (part > 0)
                    EACH_LANE if (line + i < lines) before.lane[i] =
                        rows[(Long)s->leaf_value[line + i] * hands + hand + two];
                const int *bounds = s->entry_start + (Long)(first + hand + two) * parts + part;
                sums[two] = sum_places(memory, entries, bounds[0], bounds[1], quad, before);
                if (left <= s->part) {
                    const float share = s->share[first + hand + two];
                    EACH_LANE sums[two].lane[i] *= share;
                }
            }
            EACH_LANE if (line + i < lines) {
                float *to = rows + (Long)s->leaf_value[line + i] * hands + hand;
                *(Two *)to = {sums[0].lane[i], sums[1].lane[i]};
            }
        }
        SYNC();
    }
}
