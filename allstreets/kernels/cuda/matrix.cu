// One half-iteration of matrix games: all pots on all flops. `kernels.matrix_layout` says what rows
// are, `subgames.cuda_pieces` how trees are cut.
//
//     descend   the top of a pot on a flop: the other's reach at the lines of its pieces
//     play      a piece on a flop, all of it: down, folds, showdowns and up in shared memory
//     ascend    the top again: from the lines' values to those of the root
//
// What is stored is read and written once, and nothing else but lines leaves a block. HANDS is the
// padded number of hands; blocks of `play` have at most PLAYERS threads, two blocks a multiprocessor.

#define UPDATE 0
#define BEST_RESPONSE 1
#define CARDS 52
#define LINE (HANDS + 4)    // rows stand apart: those of a product are in different banks
#define QUARTERS (HANDS / 4) // four neighbouring hands are worked on together
#define DEPTH 8             // rows of the matrix that are in shared memory at once, three times
#define TALL 8              // rows of a product that a thread works on, four columns each
#define TILES (3 * DEPTH * HANDS)
#define SEGMENTS 8          // of all hands, summed side by side
#define PARTS (CARDS + SEGMENTS)
#define SUMS (PARTS + 1)
#define TOGETHER (TILES / SUMS / 4 * 4) // folds whose sums stand in the room of the tiles

#ifdef __CUDACC__
#define BOUNDS __launch_bounds__(PLAYERS, 2)
#define PHASE static __device__ __noinline__ void // what it needs is not kept in others' registers
#define TEAM PLAYERS // threads of a block that plays
#else
#define BOUNDS
#define PHASE static void
#define TEAM 1
#endif

struct Piece { // `cuda_pieces.PIECE`
    int pot, lines, reach_rows, value_rows, first_line;
    int down, down_levels, up, up_levels, adders;
    int folds, fold_count, shows, show_count, reach_room, value_room;
};
struct Node {
    int row, child, actions, slot;
};
struct Term {
    int reach, value;
    float factor;
};
struct Store { // of a pot: arrays by flop, and how long those of one flop are
    float *own_regrets, *own_average, *other_regrets, *other_average;
    Long own_size, other_size;
};
struct Now { // `matrix_layout.Discounting`
    float positive, negative, lowest, average, weight, threshold, ahead;
};

// Within two units of the last digit, without the branches that one would take.
DEVICE float quotient(float whole, float parts) {
#ifdef __CUDACC__
    return __fdividef(whole, parts);
#else
    return whole / parts;
#endif
}

// Where a block is: a place among the flops of a pass, and its flop.
struct Where {
    int place; // in the rooms
    Long whole;
    int flop;
};

DEVICE Where where(const Matrix *ONLY s, int place) {
    Where at;
    at.place = place;
    at.whole = s->first + place;
    at.flop = s->flop_of[at.whole];
    return at;
}

DEVICE Now now_at(const Matrix *ONLY s, const Where &at) {
    return ((const Now *)s->discounts)[s->call[0] + s->call[1] * at.whole];
}

// ---- decisions, four hands each

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
// strategy move.
template <int A>
DEVICE void split_four(const float *stored, float *sums, const float *row, float *child,
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
        put(child + a * LINE, reach);
        EACH_LANE old[a].lane[i] = now.average * old[a].lane[i] +
                                   now.weight * (here.lane[i] + least) * chance.lane[i];
        if (gathers) put(sums + 16 * a, old[a]);
    }
}

// A row of values with those that lead there. `adds` are the bounds of lists, by row.
DEVICE Four gathered(const Matrix *ONLY s, const int *ONLY adds, const float *values, int row,
                     int hand) {
    Four total = four(values + row * LINE + hand);
    const int last = adds[row + 1];
#pragma unroll 1
    for (int each = adds[row]; each < last; each++) {
        const Four more = four(values + s->adders[each] * LINE + hand);
        EACH_LANE total.lane[i] += more.lane[i];
    }
    return total;
}

// An own decision: its value goes into the row of its first action, and regrets move.
template <int A>
DEVICE void rise_four(const Matrix *ONLY s, const Node &node, float *ONLY stored,
                      const int *ONLY adds, float *values, int hand, const Now &now) {
    const int actions = A ? A : node.actions;
    Four numbers[A ? A : MOST_ACTIONS], worth[A ? A : MOST_ACTIONS];
    if (s->mode != BEST_RESPONSE) {
#pragma unroll
        for (int a = 0; a < actions; a++) numbers[a] = four(stored + 16 * a);
    }
#pragma unroll
    for (int a = 0; a < actions; a++) worth[a] = gathered(s, adds, values, node.child + a, hand);
    Four value;
    if (s->mode == BEST_RESPONSE) {
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
    if (s->mode == UPDATE) {
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
    put(values + node.child * LINE + hand, value);
}

// Numbers of four hands at a decision: [hand / 16][action][16] from its slot on.
DEVICE Long stored_at(const Node &node, int hand) {
    return (Long)node.slot * HANDS + hand / 16 * 16 * node.actions + hand % 16;
}

DEVICE void go_down(const Matrix *ONLY s, const Piece &piece, const Where &at, float *rows) {
    const Store store = s->stores[piece.pot];
    const Long start = at.flop * store.other_size;
    const Now now = now_at(s, at);
    const bool learns = s->mode == UPDATE, gathers = learns && now.weight > 0.0f;
    const float least = s->least[piece.pot];
    for (int level = 0; level < piece.down_levels; level++) {
        const int first = s->levels[piece.down + level];
        const int tasks = (s->levels[piece.down + level + 1] - first) * QUARTERS;
        for (int task = THREAD; task < tasks; task += THREADS) {
            const Node node = s->nodes[first + task / QUARTERS];
            const int hand = task % QUARTERS * 4;
            const Long place = start + stored_at(node, hand);
            const float *stored = (learns ? store.other_regrets : store.other_average) + place;
            float *sums = store.other_average + place;
            const float *row = rows + node.row * LINE + hand;
            float *child = rows + node.child * LINE + hand;
            switch (node.actions) { // known numbers stay in registers
            case 2: split_four<2>(stored, sums, row, child, now, least, gathers, 2); break;
            case 3: split_four<3>(stored, sums, row, child, now, least, gathers, 3); break;
            case 4: split_four<4>(stored, sums, row, child, now, least, gathers, 4); break;
            case 5: split_four<5>(stored, sums, row, child, now, least, gathers, 5); break;
            default: split_four<0>(stored, sums, row, child, now, least, gathers, node.actions);
            }
        }
        SYNC();
    }
}

DEVICE void go_up(const Matrix *ONLY s, const Piece &piece, const Where &at, float *values) {
    const Store store = s->stores[piece.pot];
    float *own = (s->mode == UPDATE ? store.own_regrets : store.own_average) +
                 at.flop * store.own_size;
    const int *adds = s->adds + piece.adders;
    const Now now = now_at(s, at);
    for (int level = 0; level < piece.up_levels; level++) {
        const int first = s->levels[piece.up + level];
        const int tasks = (s->levels[piece.up + level + 1] - first) * QUARTERS;
        for (int task = THREAD; task < tasks; task += THREADS) {
            const Node node = s->nodes[first + task / QUARTERS];
            const int hand = task % QUARTERS * 4;
            float *stored = own + stored_at(node, hand);
            switch (node.actions) {
            case 2: rise_four<2>(s, node, stored, adds, values, hand, now); break;
            case 3: rise_four<3>(s, node, stored, adds, values, hand, now); break;
            case 4: rise_four<4>(s, node, stored, adds, values, hand, now); break;
            case 5: rise_four<5>(s, node, stored, adds, values, hand, now); break;
            default: rise_four<0>(s, node, stored, adds, values, hand, now);
            }
        }
        SYNC();
    }
}

DEVICE const Piece &piece_here(const Matrix *ONLY s) { return s->pieces[BLOCK % s->piece_count]; }

// Ask for all numbers that a piece will read, so that its levels do not wait for memory one by one.
DEVICE void fetch_nodes(const Matrix *ONLY s, int levels, int count, const float *stored) {
#ifdef __CUDACC__
    const int last = s->levels[levels + count];
    for (int n = s->levels[levels] + THREAD / 32; n < last; n += TEAM / 32) {
        const Node node = s->nodes[n];
        const float *from = stored + (Long)node.slot * HANDS;
        for (int each = THREAD % 32 * 32; each < node.actions * HANDS; each += 32 * 32)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from + each));
    }
#endif
}

PHASE fetch_piece(const Matrix *ONLY s) {
    const Piece &piece = piece_here(s);
    const Long flop = where(s, BLOCK / s->piece_count).flop;
    const Store store = s->stores[piece.pot];
    const bool learns = s->mode == UPDATE;
    const Long own = flop * store.own_size, other = flop * store.other_size;
    fetch_nodes(s, piece.down, piece.down_levels, store.other_average + other);
    if (learns) fetch_nodes(s, piece.down, piece.down_levels, store.other_regrets + other);
    if (s->mode != BEST_RESPONSE)
        fetch_nodes(s, piece.up, piece.up_levels,
                    (learns ? store.own_regrets : store.own_average) + own);
}

// The first phase of a piece: reach, from its lines to its ends; values are 0.
PHASE enter_piece(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Where at = where(s, BLOCK / s->piece_count);
    float *rows = memory + TILES, *values = rows + piece.reach_rows * LINE;
    const float *reach = s->reach + (Long)at.place * s->reach_rows * LINE;
    for (int task = THREAD; task < piece.lines * QUARTERS; task += TEAM) {
        const int line = task / QUARTERS, hand = task % QUARTERS * 4;
        const int row = s->line_reach[piece.first_line + line];
        put(rows + line * LINE + hand, four(reach + row * LINE + hand));
    }
    for (int each = 4 * THREAD; each < piece.value_rows * LINE; each += 4 * TEAM)
        put(values + each, all(0.0f));
    SYNC();
    go_down(s, piece, at, rows);
}

// The last phase: values, from the ends to the lines.
PHASE leave_piece(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Where at = where(s, BLOCK / s->piece_count);
    float *values = memory + TILES + piece.reach_rows * LINE;
    float *lines = s->values + (Long)at.place * s->value_rows * LINE;
    go_up(s, piece, at, values);
    for (int task = THREAD; task < piece.lines * QUARTERS; task += TEAM) {
        const int line = task / QUARTERS, hand = task % QUARTERS * 4;
        const int row = s->line_value[piece.first_line + line];
        put(lines + row * LINE + hand, gathered(s, s->adds + piece.adders, values, line, hand));
    }
}

// ---- ends

// Folds: a row times the matrix of pairs that fit, by the sums over the hands that hold each card.
PHASE add_folds(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const int flop = where(s, BLOCK / s->piece_count).flop;
    float *sums = memory, *rows = memory + TILES, *values = rows + piece.reach_rows * LINE;
    const Term *ONLY every = s->folds + piece.folds;
    const float *ONLY combos = s->combos + (Long)flop * HANDS;
    const float *ONLY twins = s->twins + (Long)flop * HANDS;
    const Long by_card = (Long)flop * s->card_most * CARDS, by_hand = (Long)flop * s->held_most * HANDS;
    const int card_most = s->card_most, held_most = s->held_most;
    for (int first = 0; first < piece.fold_count; first += TOGETHER) {
        const Term *ONLY folds = every + first;
        const int left = piece.fold_count - first, count = left < TOGETHER ? left : TOGETHER;
        const int groups = (count + 3) / 4;
        for (int task = THREAD; task < groups * PARTS; task += TEAM) {
            const int part = task % PARTS, group = task / PARTS;
            int row[4];
            float total[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            EACH_LANE {
                const int fold = 4 * group + i;
                row[i] = folds[fold < count ? fold : 0].reach * LINE;
            }
            if (part < CARDS) {
#pragma unroll 4
                for (int j = 0; j < card_most; j++) {
                    const Long place = by_card + j * CARDS + part;
                    const int hand = s->card_hand[place];
                    const float many = s->card_count[place];
                    EACH_LANE total[i] += many * rows[row[i] + hand];
                }
            } else {
                for (int hand = part - CARDS; hand < HANDS; hand += SEGMENTS) {
                    const float many = combos[hand];
                    EACH_LANE total[i] += many * rows[row[i] + hand];
                }
            }
            EACH_LANE sums[(4 * group + i) * SUMS + part] = total[i];
        }
        SYNC();
        for (int fold = THREAD; fold < 4 * groups; fold += TEAM) {
            float total = 0.0f;
            for (int segment = 0; segment < SEGMENTS; segment++)
                total += sums[fold * SUMS + CARDS + segment];
            sums[fold * SUMS + PARTS] = total;
        }
        SYNC();
        for (int task = THREAD; task < groups * HANDS; task += TEAM) {
            const int hand = task % HANDS, group = task / HANDS;
            const float *here = sums + 4 * group * SUMS;
            float value[4];
            EACH_LANE value[i] = combos[hand] * here[i * SUMS + PARTS];
#pragma unroll 4
            for (int j = 0; j < held_most; j++) {
                const int card = s->held_card[by_hand + j * HANDS + hand];
                const float many = s->held_count[by_hand + j * HANDS + hand];
                EACH_LANE value[i] -= many * here[i * SUMS + card];
            }
            EACH_LANE {
                const int fold = 4 * group + i;
                if (fold >= count) continue;
                const Term term = folds[fold];
                const float total = value[i] + twins[hand] * rows[term.reach * LINE + hand];
                values[term.value * LINE + hand] += term.factor * total;
            }
        }
        SYNC();
    }
}

DEVICE void copy_tile(const float *matrix, float *tiles, int number) {
    if (number * DEPTH < HANDS) {
        const float *from = matrix + number * DEPTH * HANDS;
        float *to = tiles + number % 3 * DEPTH * HANDS;
        for (int each = 4 * THREAD; each < DEPTH * HANDS; each += 4 * TEAM)
            copy_soon(to + each, from + each);
    }
    COPIES_END();
}

// Showdowns: rows times the margins of the flop. A thread has TALL rows and four columns.
DEVICE void add_showdowns(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const int flop = where(s, BLOCK / s->piece_count).flop;
    float *tiles = memory, *rows = memory + TILES, *values = rows + piece.reach_rows * LINE;
    const Term *shows = s->shows + piece.shows;
    const float *matrix = s->margin + (Long)flop * HANDS * HANDS;
    const int count = piece.show_count, groups = (count + TALL - 1) / TALL;
    const int tasks = groups * QUARTERS;
    for (int first = 0; first < tasks; first += TEAM) {
        const int task = first + THREAD;
        const int group = task / QUARTERS, column = task % QUARTERS * 4;
        int row[TALL];
        Four sums[TALL];
#pragma unroll
        for (int r = 0; r < TALL; r++) {
            const int show = group + r * groups;
            row[r] = shows[show < count ? show : 0].reach * LINE;
            sums[r] = all(0.0f);
        }
        copy_tile(matrix, tiles, 0);
        copy_tile(matrix, tiles, 1);
        for (int number = 0; number * DEPTH < HANDS; number++) {
            ALL_BUT_LAST_COPIED();
            SYNC(); // the tile is there, and nobody reads the one that the next copy goes to
            copy_tile(matrix, tiles, number + 2);
            if (task >= tasks) continue;
            const float *tile = tiles + number % 3 * DEPTH * HANDS + column;
#pragma unroll
            for (int k = 0; k < DEPTH; k += 4) {
                Four margin[4];
#pragma unroll
                for (int j = 0; j < 4; j++) margin[j] = four(tile + (k + j) * HANDS);
#pragma unroll
                for (int r = 0; r < TALL; r++) {
                    const Four reach = four(rows + row[r] + k);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        EACH_LANE sums[r].lane[i] += reach.lane[j] * margin[j].lane[i];
                }
            }
#pragma unroll
            for (int r = 0; r < TALL; r++) row[r] += DEPTH;
        }
        if (task < tasks) {
#pragma unroll
            for (int r = 0; r < TALL; r++) {
                const int show = group + r * groups;
                if (show >= count) continue;
                const Term term = shows[show];
                float *place = values + term.value * LINE + column;
                Four value = four(place);
                EACH_LANE value.lane[i] += term.factor * sums[r].lane[i];
                put(place, value);
            }
        }
        SYNC();
    }
}

// ---- kernels

DEVICE bool visited(const Matrix *ONLY s, const Where &at, int pot) {
    return s->visits[at.whole * s->pots + pot];
}

KERNEL descend(const Matrix *ONLY s) {
    const Piece &top = s->tops[BLOCK % s->pots];
    const Where at = where(s, BLOCK / s->pots);
    if (!visited(s, at, top.pot)) return;
    float *rows = s->reach + ((Long)at.place * s->reach_rows + top.reach_room) * LINE;
    for (int hand = THREAD; hand < HANDS; hand += THREADS)
        rows[hand] = s->root[top.pot * HANDS + hand];
    SYNC();
    go_down(s, top, at, rows);
}

KERNEL BOUNDS play(const Matrix *ONLY s) {
    const Where at = where(s, BLOCK / s->piece_count);
    if (!visited(s, at, piece_here(s).pot)) return;
    fetch_piece(s);
    enter_piece(s);
    add_folds(s);
    add_showdowns(s);
    leave_piece(s);
}

KERNEL ascend(const Matrix *ONLY s) {
    const Piece &top = s->tops[BLOCK % s->pots];
    const Where at = where(s, BLOCK / s->pots);
    if (!visited(s, at, top.pot)) return;
    float *values = s->values + ((Long)at.place * s->value_rows + top.value_room) * LINE;
    for (int each = 4 * THREAD; each < top.value_rows * LINE; each += 4 * THREADS)
        put(values + each, all(0.0f));
    SYNC();
    go_up(s, top, at, values);
    float *out = s->out + (top.pot * (Long)s->call[2] + at.whole) * s->hands;
    for (int hand = 4 * THREAD; hand < HANDS; hand += 4 * THREADS) {
        const Four found = gathered(s, s->adds + top.adders, values, 0, hand);
        EACH_LANE if (hand + i < s->hands) out[hand + i] = found.lane[i];
    }
}

// Of the own regrets of a pot on a flop: the sum of the positive ones, and the largest.
KERNEL sum_regrets(const Matrix *ONLY s) {
    const int pot = BLOCK % s->pots;
    const Long whole = s->first + BLOCK / s->pots;
    const Store store = s->stores[pot];
    const float *regrets = store.own_regrets + s->flop_of[whole] * store.own_size;
    PositiveRegrets found = {};
    for (Long each = THREAD; each < store.own_size; each += THREADS) note(found, regrets[each]);
    add_up(found, s->sums + 2 * (whole * s->pots + pot));
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Matrix *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->call[0]++;
}
