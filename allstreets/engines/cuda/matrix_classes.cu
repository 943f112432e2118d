// One half-iteration of matrix games of hand classes: all pots on all flops. `matrix.kernels.layout`
// says what rows are, `matrix_classes.py` how trees are cut.
//
//     forward    the top of a pot on a flop: the opponent's reach at the lines of its pieces
//     play       a piece on a flop, all of it: both passes, folds and showdowns in shared memory
//     backward   the top again: from the lines' values to those of the root
//
// What is stored is read and written once, and nothing else but lines leaves a block. HANDS is the
// padded number of hands; blocks of `play` have at most PLAYERS threads, two blocks a multiprocessor, and
// those of tops TOPS.

#include "matrix.cuh"

#define CARDS 52
#define LINE (HANDS + 4)    // rows stand apart: those of a product are in different banks
#define QUARTERS (HANDS / 4) // four neighbouring hands are worked on together
#define DEPTH 8             // rows of the matrix that are in shared memory at once, three times
#define TILES (3 * DEPTH * HANDS)
#define SEGMENTS 8          // of all hands, summed side by side
#define PARTS (CARDS + SEGMENTS)
#define SUMS (PARTS + 1)
#define TOGETHER (TILES / SUMS / 4 * 4) // folds whose sums stand in the room of the tiles

#ifdef __CUDACC__
#define TEAM PLAYERS // threads of a block that plays
#else
#define TEAM THREADS
#endif

struct Piece { // `matrix_classes.PIECE`
    int pot, lines, reach_rows, value_rows, first_line;
    int forward, forward_levels, backward, backward_levels, adders;
    int folds, fold_count, shows, show_count, reach_room, value_room;
};
struct Term {
    int reach, value;
    float factor;
};

struct Matrix : Request {
    Long mode;
    const float *root;  // [P][H]: the opponent's reach
    const float *least; // [P]: reach with which every hand counts in the average
    Long hands;         // without padding
    float *out;         // [P][K][hands]: the player's values
    // Betting, the same on every flop.
    const Piece *tops; // [P]
    Long piece_count;
    const Piece *pieces;
    const int *line_reach, *line_value; // rows of `reach` and `values` at which lines begin
    const Node *nodes;
    const int *levels;  // bounds of nodes
    const int *adds;    // bounds of adders
    const int *adders;  // rows
    const Term *folds, *shows;
    // Cards.
    const float *margin;         // [F][H][H]: by the opponent's hand, then by the player's
    const float *combos, *twins; // [F][H]
    Long card_most;
    const Byte *card_hand; // [F][card_most][52]
    const float *card_count;
    Long held_most;
    const Byte *held_card; // [F][held_most][H]
    const float *held_count;
    // Stored numbers, and rows of tops and lines.
    const Store *stores; // [P]
    float *reach;        // [places][reach_rows]
    Long reach_rows;
    float *values;
    Long value_rows;
};

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

struct Worth { // of the actions of a player's decision
    const Matrix *ONLY s;
    const int *ONLY adds;
    const float *values;
    int child, hand;
    METHOD Four operator()(int a) const { return gathered(s, adds, values, child + a, hand); }
};

// Both passes of a part. SOME: of the player who decides only some hands are stored.
template <bool SOME>
DEVICE void forward_levels(const Matrix *ONLY s, const Piece &piece, const Where &at, float *rows) {
    const Store store = s->stores[piece.pot];
    const Long start = at.flop * store.opponent_size;
    const Weights weights = weights_at(s, at);
    const bool learns = s->mode == UPDATE, gathers = learns && weights.weight > 0.0f;
    const float least = s->least[piece.pot];
    for (int level = 0; level < piece.forward_levels; level++) {
        const int first = s->levels[piece.forward + level];
        const int tasks = (s->levels[piece.forward + level + 1] - first) * QUARTERS;
        for (int task = THREAD; task < tasks; task += THREADS) {
            const Node node = s->nodes[first + task / QUARTERS];
            const int hand = task % QUARTERS * 4;
            const float *row = rows + node.row * LINE + hand;
            float *child = rows + node.child * LINE + hand;
            const float *stored = learns ? store.opponent_regrets : store.opponent_average;
            if (SOME) {
                const Long place = start + node.slot * store.opponent_hands;
                const Scattered four = scattered(store.opponent_place, hand, node.actions);
                split_actions<3>(node.actions, four, stored + place,
                                 store.opponent_average + place, row, child, LINE, weights, least,
                                 gathers);
                continue;
            }
            const Long place = start + stored_at(node.slot, node.actions, hand, HANDS);
            split_actions<5>(node.actions, Neighbours(), stored + place,
                             store.opponent_average + place, row, child, LINE, weights, least,
                             gathers);
        }
        SYNC();
    }
}

template <bool SOME>
DEVICE void backward_levels(const Matrix *ONLY s, const Piece &piece, const Where &at, float *values) {
    const Store store = s->stores[piece.pot];
    float *numbers = (s->mode == UPDATE ? store.player_regrets : store.player_average) +
                 at.flop * store.player_size;
    const int *adds = s->adds + piece.adders;
    const Weights weights = weights_at(s, at);
    for (int level = 0; level < piece.backward_levels; level++) {
        const int first = s->levels[piece.backward + level];
        const int tasks = (s->levels[piece.backward + level + 1] - first) * QUARTERS;
        for (int task = THREAD; task < tasks; task += THREADS) {
            const Node node = s->nodes[first + task / QUARTERS];
            const int hand = task % QUARTERS * 4;
            const Worth worth = {s, adds, values, node.child, hand};
            // It goes into the row of the first action, which is not needed any more.
            float *to = values + node.child * LINE + hand;
            if (SOME) {
                float *stored = numbers + node.slot * store.player_hands;
                const Scattered four = scattered(store.player_place, hand, node.actions);
                put(to, learn_node<3>(node, s->mode, four, stored, worth, weights));
                continue;
            }
            float *stored = numbers + stored_at(node.slot, node.actions, hand, HANDS);
            put(to, learn_node<5>(node, s->mode, Neighbours(), stored, worth, weights));
        }
        SYNC();
    }
}

DEVICE const Piece &piece_here(const Matrix *ONLY s) { return s->pieces[modulo(BLOCK, s->piece_count)]; }

// Ask for all numbers that a piece will read, so that its levels do not wait for memory one by one.
DEVICE void fetch_nodes(const Matrix *ONLY s, int levels, int count, const float *stored,
                        int hands) {
#ifdef __CUDACC__
    const int last = s->levels[levels + count];
    for (int n = s->levels[levels] + THREAD / 32; n < last; n += TEAM / 32) {
        const Node node = s->nodes[n];
        const float *from = stored + (Long)node.slot * hands;
        for (int each = THREAD % 32 * 32; each < node.actions * hands; each += 32 * 32)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from + each));
    }
#endif
}

PHASE fetch_piece(const Matrix *ONLY s) {
    const Piece &piece = piece_here(s);
    const Long flop = where(s, quotient(BLOCK, s->piece_count)).flop;
    const Store store = s->stores[piece.pot];
    const bool learns = s->mode == UPDATE;
    const Long player = flop * store.player_size, opponent = flop * store.opponent_size;
    const int mine = store.player_place ? store.player_hands : HANDS;
    const int his = store.opponent_place ? store.opponent_hands : HANDS;
    fetch_nodes(s, piece.forward, piece.forward_levels, store.opponent_average + opponent, his);
    if (learns)
        fetch_nodes(s, piece.forward, piece.forward_levels, store.opponent_regrets + opponent, his);
    if (s->mode != BEST_RESPONSE)
        fetch_nodes(s, piece.backward, piece.backward_levels,
                    (learns ? store.player_regrets : store.player_average) + player, mine);
}

// The first phase of a piece: reach, from its lines to its terminals; values are 0.
template <bool SOME> PHASE enter_piece(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Where at = where(s, quotient(BLOCK, s->piece_count));
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
    forward_levels<SOME>(s, piece, at, rows);
}

// The last phase: values, from the terminals to the lines.
template <bool SOME> PHASE leave_piece(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Where at = where(s, quotient(BLOCK, s->piece_count));
    float *values = memory + TILES + piece.reach_rows * LINE;
    float *lines = s->values + (Long)at.place * s->value_rows * LINE;
    backward_levels<SOME>(s, piece, at, values);
    for (int task = THREAD; task < piece.lines * QUARTERS; task += TEAM) {
        const int line = task / QUARTERS, hand = task % QUARTERS * 4;
        const int row = s->line_value[piece.first_line + line];
        put(lines + row * LINE + hand, gathered(s, s->adds + piece.adders, values, line, hand));
    }
}

// ---- terminals

// Folds: a row times the matrix of pairs that fit, by the sums over the hands that hold each card.
PHASE add_folds(const Matrix *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const int flop = where(s, quotient(BLOCK, s->piece_count)).flop;
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
    const int flop = where(s, quotient(BLOCK, s->piece_count)).flop;
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
        UNROLL for (int r = 0; r < TALL; r++) {
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
            add_product<DEPTH, HANDS>(sums, [&](int r) { return rows + row[r]; }, tile);
            UNROLL for (int r = 0; r < TALL; r++) row[r] += DEPTH;
        }
        if (task < tasks) {
            UNROLL for (int r = 0; r < TALL; r++) {
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

SMALL_KERNEL(TOPS, 4) forward(const Matrix *ONLY s) {
    const Piece &top = s->tops[modulo(BLOCK, s->pots)];
    const Where at = where(s, quotient(BLOCK, s->pots));
    if (!visited(s, at, top.pot)) return;
    float *rows = s->reach + ((Long)at.place * s->reach_rows + top.reach_room) * LINE;
    for (int hand = THREAD; hand < HANDS; hand += THREADS)
        rows[hand] = s->root[top.pot * HANDS + hand];
    SYNC();
    if (s->stores[top.pot].opponent_place)
        forward_levels<true>(s, top, at, rows);
    else
        forward_levels<false>(s, top, at, rows);
}

SMALL_KERNEL(PLAYERS, 2) play(const Matrix *ONLY s) {
    const Where at = where(s, quotient(BLOCK, s->piece_count));
    if (!visited(s, at, piece_here(s).pot)) return;
    fetch_piece(s);
    if (s->stores[piece_here(s).pot].opponent_place)
        enter_piece<true>(s);
    else
        enter_piece<false>(s);
    add_folds(s);
    add_showdowns(s);
    if (s->stores[piece_here(s).pot].player_place)
        leave_piece<true>(s);
    else
        leave_piece<false>(s);
}

KERNEL backward(const Matrix *ONLY s) {
    const Piece &top = s->tops[modulo(BLOCK, s->pots)];
    const Where at = where(s, quotient(BLOCK, s->pots));
    float *out = s->out + (top.pot * (Long)s->call[2] + at.whole) * s->hands;
    if (!visited(s, at, top.pot)) {
        for (int hand = THREAD; hand < s->hands; hand += THREADS) out[hand] = 0.0f;
        return;
    }
    float *values = s->values + ((Long)at.place * s->value_rows + top.value_room) * LINE;
    for (int each = 4 * THREAD; each < top.value_rows * LINE; each += 4 * THREADS)
        put(values + each, all(0.0f));
    SYNC();
    const Byte *some = s->stores[top.pot].player_place;
    if (some)
        backward_levels<true>(s, top, at, values);
    else
        backward_levels<false>(s, top, at, values);
    const Byte *places = s->mode == UPDATE ? some : nullptr; // who is not stored learns nothing
    for (int hand = 4 * THREAD; hand < HANDS; hand += 4 * THREADS) {
        Four found = gathered(s, s->adds + top.adders, values, 0, hand);
        if (places) EACH_LANE if (places[hand + i] == NOWHERE) found.lane[i] = 0.0f;
        EACH_LANE if (hand + i < s->hands) out[hand + i] = found.lane[i];
    }
}
