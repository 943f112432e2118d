// One half-iteration of an exact subgame, a street at a time. `exact.kernels.layout` says what
// rows, lines, choices and answers are; `subgames.cuda_layout` lays them out for these kernels.
//
//     descend   the other's reach at all nodes of some boards
//     all_in    what all-ins before the river are worth, by the matrices of the boards
//     ends      what folds and showdowns are worth
//     gather    the values of the boards below a board, summed at its leaves
//     ascend    values and regrets of all nodes
//
// Every hand is a column of its own on the way down and on the way up; hands meet only at the ends.

#define UPDATE 0
#define BEST_RESPONSE 1
#define LANES 4     // ends that a block works on side by side
#define SEGMENTS 32 // parts in which the other's combos are summed side by side
#define CARDS 53    // the last one is held by padding

struct Node {
    int own, actions, reach, child, value, adds, slot, number;
};
struct End { // rows, −1: none
    int called, folded;          // the other's reach when he sees the showdown, and when he folds
    int value, fold_value;       // of both together, and of an own fold
    float stake, rake, fold;     // own fold, or the other's: what it is worth
    float unused;
};
struct Below {
    int start, hands, hand; // of the own hand's row on a board below
    float weight;
};
struct HandTables { // of an own hand on a board, as places in the sums of the other's combos
    Short below, upto;
    Short first_below, first_upto, second_below, second_upto; // among those with a card of it
    Short first_all, second_all;
};

DEVICE Discounts now_of(const Street *ONLY s) {
    return ((const Discounts *)s->discounts)[2 * s->clock[0] + s->player];
}

// Where the other's reach of a hand at a line comes from: the board above.
DEVICE float reach_in(const Street *ONLY s, int board, int line, int hand) {
    const int above_board = s->parent[board], first = s->above_start[above_board];
    const int hands = s->above_start[above_board + 1] - first;
    const int place = s->other_parent[s->other_start[board] + hand];
    if (place >= hands) return 0.0f;
    const Long row = (Long)first * s->above_rows + (Long)s->above_row[line] * hands;
    return s->above_reach[row + place];
}

// ---- the way down

SMALL_KERNEL(128, 8) descend(const Street *ONLY s) {
    const int piece = BLOCK % s->pieces, line = BLOCK / s->pieces % s->lines;
    const int board = s->first_board + BLOCK / s->pieces / s->lines;
    const int hands = hands_on(s->other_start, board);
    const Long start = (Long)s->other_start[board] * s->other_actions;
    float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        rows[s->line_reach[line] * hands + hand] = reach_in(s, board, line, hand);
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.own) continue;
            const Long base =
                start + (Long)node.slot * hands + hand / 16 * 16 * node.actions + hand % 16;
            if (s->mode == UPDATE)
                split(s->other_regrets + base, rows, hands, node.reach, node.child, hand,
                      node.actions);
            else
                split(s->other_average + base, rows, hands, node.reach, node.child, hand,
                      node.actions);
        }
    }
}

// ---- ends

// What a tile of LANES ends needs in shared memory; H hands and C combos of the other player.
struct Sums {
    Four *called, *folded; // [H]: reach, four ends side by side
    Four *ordered;         // [C + 1]: of the first combos by strength (river)
    Four *by_card;         // [2C + CARDS]: of the first combos with each card, list after list
    Four *folds;           // [CARDS]: of the combos with each card that fold
    Four *parts;           // [2][SEGMENTS]
    Four *total;           // [2]: of all that call, of all that fold
    Short *hand_of;        // [C]: hands of the combos by strength, brought near
    Short *card_hand;      // [2C]: and of those with each card
};

DEVICE Sums sums_at(float *memory, int hands, int combos) {
    Sums sums;
    sums.called = (Four *)memory;
    sums.folded = sums.called + hands;
    sums.ordered = sums.folded + hands;
    sums.by_card = sums.ordered + combos + 1;
    sums.folds = sums.by_card + 2 * combos + CARDS;
    sums.parts = sums.folds + CARDS;
    sums.total = sums.parts + 2 * SEGMENTS;
    sums.hand_of = (Short *)(sums.total + 2);
    sums.card_hand = sums.hand_of + combos;
    return sums;
}

SMALL_KERNEL(256, 4) ends(const Street *ONLY s) {
    SHARED(memory);
    const int board = s->first_board + BLOCK / s->tiles, tile = BLOCK % s->tiles;
    const int others = hands_on(s->other_start, board), hands = hands_on(s->own_start, board);
    const int first = s->combo_start[board], combos = s->combo_start[board + 1] - first;
    const End *ends = s->ends + LANES * tile; // filled up with ends that nobody reads
    const float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    const Sums sums = sums_at(memory, others, combos);
    int called[LANES], folded[LANES], folds = 0;
    float stake[LANES], rake[LANES], fold[LANES];
#pragma unroll
    for (int lane = 0; lane < LANES; lane++) {
        called[lane] = ends[lane].called, folded[lane] = ends[lane].folded;
        stake[lane] = ends[lane].stake, rake[lane] = ends[lane].rake, fold[lane] = ends[lane].fold;
        folds |= folded[lane] >= 0;
    }
    for (int hand = THREAD; hand < others; hand += THREADS) {
        Four call, gone;
#pragma unroll
        for (int lane = 0; lane < LANES; lane++) {
            call.lane[lane] = called[lane] >= 0 ? rows[(Long)called[lane] * others + hand] : 0.0f;
            gone.lane[lane] = folded[lane] >= 0 ? rows[(Long)folded[lane] * others + hand] : 0.0f;
        }
        sums.called[hand] = call;
        if (folds) sums.folded[hand] = gone;
    }
    for (int combo = THREAD; combo < combos; combo += THREADS)
        sums.hand_of[combo] = s->combo_hand[first + combo];
    for (int place = THREAD; place < 2 * combos; place += THREADS)
        sums.card_hand[place] = s->card_hand[2 * (Long)first + place];
    SYNC();
    const Short *hand_of = sums.hand_of, *card_hand = sums.card_hand;
    const int length = (combos + SEGMENTS - 1) / SEGMENTS;
    const Short *card_start = s->card_start + (Long)board * (CARDS + 1);
    const float *call = (const float *)sums.called, *gone = (const float *)sums.folded;
    // Sums by card, and by segment: a number a thread. First those who call, then those who fold.
    for (int task = THREAD; task < (folds ? 2 : 1) * (SEGMENTS + CARDS) * LANES; task += THREADS) {
        const int lane = task % LANES, piece = task / LANES % (SEGMENTS + CARDS);
        const bool folding = task >= (SEGMENTS + CARDS) * LANES;
        const float *reach = (folding ? gone : call) + lane;
        float total = 0.0f;
        if (piece < CARDS) {
            const int from = card_start[piece], upto = card_start[piece + 1];
            float *list = (float *)(sums.by_card + from + piece) + lane; // one more entry a card
            if (folding) {
#pragma unroll 4
                for (int c = from; c < upto; c++) total += reach[LANES * card_hand[c]];
                ((float *)(sums.folds + piece))[lane] = total;
            } else {
                *list = 0.0f;
#pragma unroll 4
                for (int c = from; c < upto; c++) {
                    total += reach[LANES * card_hand[c]];
                    list += LANES;
                    *list = total;
                }
            }
        } else {
            const int from = (piece - CARDS) * length;
            const int upto = from + length < combos ? from + length : combos;
#pragma unroll 4
            for (int c = from; c < upto; c++) total += reach[LANES * hand_of[c]];
            ((float *)(sums.parts + (folding ? SEGMENTS : 0) + piece - CARDS))[lane] = total;
        }
    }
    SYNC();
    for (int task = THREAD; task < SEGMENTS * LANES; task += THREADS) {
        const int lane = task % LANES, piece = task / LANES;
        const float *parts = (const float *)sums.parts + lane;
        float total = 0.0f;
        for (int before = 0; before < piece; before++) total += parts[before * LANES];
        if (piece == SEGMENTS - 1) {
            float left = 0.0f;
            if (folds)
                for (int each = 0; each < SEGMENTS; each++) left += parts[(SEGMENTS + each) * LANES];
            sums.total[0].lane[lane] = total + parts[piece * LANES];
            sums.total[1].lane[lane] = left;
        }
        if (!s->is_river) continue;
        const int from = piece * length, upto = from + length < combos ? from + length : combos;
        float *ordered = (float *)sums.ordered + lane;
        if (piece == 0) *ordered = 0.0f;
#pragma unroll 4
        for (int c = from; c < upto; c++) {
            total += call[LANES * hand_of[c] + lane];
            ordered[(c + 1) * LANES] = total;
        }
    }
    SYNC();
    const int start = s->own_start[board];
    float *values = s->values + (Long)start * s->value_rows;
    const float *net = s->net + ((Long)start * s->tiles + (Long)tile * hands) * LANES;
    const Four whole = sums.total[0], left = sums.total[1];
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        const int card = s->own_cards[2 * (start + hand)];
        const int twin = s->own_twin[start + hand];
        Four value = {}, met = {};
        if (card < CARDS - 1) { // else padding
            const HandTables at = s->tables[start + hand];
            const Four every = whole - sums.by_card[at.first_all] - sums.by_card[at.second_all];
            met = twin < others ? every + sums.called[twin] : every;
            Four won = {};
            if (s->is_river) {
                won = sums.ordered[at.below] + sums.ordered[at.upto];
                won = won - sums.by_card[at.first_below] - sums.by_card[at.first_upto];
                won = won - sums.by_card[at.second_below] - sums.by_card[at.second_upto] - every;
            } else {
#pragma unroll
                for (int lane = 0; lane < LANES; lane++)
                    won.lane[lane] = stake[lane] != 0.0f ? net[lane * hands + hand] : 0.0f;
            }
#pragma unroll
            for (int lane = 0; lane < LANES; lane++)
                value.lane[lane] = stake[lane] * won.lane[lane] + rake[lane] * met.lane[lane];
            if (folds) {
                const int second = s->own_cards[2 * (start + hand) + 1];
                Four other = left - sums.folds[card] - sums.folds[second];
                if (twin < others) other = other + sums.folded[twin];
#pragma unroll
                for (int lane = 0; lane < LANES; lane++)
                    if (folded[lane] >= 0) value.lane[lane] += fold[lane] * other.lane[lane];
            }
        }
#pragma unroll
        for (int lane = 0; lane < LANES; lane++) {
            const int row = ends[lane].value, fold_row = ends[lane].fold_value;
            if (row >= 0) values[(Long)row * hands + hand] = value.lane[lane];
            if (fold_row >= 0) values[(Long)fold_row * hands + hand] = fold[lane] * met.lane[lane];
        }
    }
}

// net [tile][end][own hand] = Σ over the other's hands of equity · reach. `equity` is
// [other hand][own hand] here, so that neighbours read neighbours.
KERNEL all_in(const Street *ONLY s) {
    const int piece = BLOCK % s->pieces, tile = BLOCK / s->pieces % s->tiles;
    const int board = s->first_board + BLOCK / s->pieces / s->tiles;
    const int others = hands_on(s->other_start, board), hands = hands_on(s->own_start, board);
    const End *ends = s->ends + LANES * tile;
    const float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    const float *equity = s->equity + s->equity_start[board], *row[LANES];
    bool some = false;
#pragma unroll
    for (int lane = 0; lane < LANES; lane++) {
        some |= ends[lane].stake != 0.0f;
        row[lane] = rows + (Long)(ends[lane].called > 0 ? ends[lane].called : 0) * others;
    }
    if (!some) return;
    float *net = s->net + ((Long)s->own_start[board] * s->tiles + (Long)tile * hands) * LANES;
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        Four total = {};
#pragma unroll 8
        for (int other = 0; other < others; other++) {
            const float share = equity[(Long)other * hands + hand];
#pragma unroll
            for (int lane = 0; lane < LANES; lane++) total.lane[lane] += share * row[lane][other];
        }
#pragma unroll
        for (int lane = 0; lane < LANES; lane++) net[lane * hands + hand] = total.lane[lane];
    }
}

// ---- the way up

KERNEL gather(const Street *ONLY s) {
    const int piece = BLOCK % s->pieces, leaf = BLOCK / s->pieces % s->leaves;
    const int board = s->first_board + BLOCK / s->pieces / s->leaves;
    const int start = s->own_start[board], hands = hands_on(s->own_start, board);
    float *row = s->values + (Long)start * s->value_rows + (Long)s->leaf_value[leaf] * hands;
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        float total = 0.0f;
        const int last = s->below_start[start + hand + 1];
#pragma unroll 4
        for (int place = s->below_start[start + hand]; place < last; place++) {
            const Below below = s->below[place];
            const Long at = (Long)below.start * s->leaves + (Long)leaf * below.hands;
            total += below.weight * s->below_values[at + below.hand];
        }
        row[hand] = total;
    }
}

SMALL_KERNEL(128, 8) ascend(const Street *ONLY s) {
    const int piece = BLOCK % s->pieces, line = BLOCK / s->pieces % s->lines;
    const int board = s->first_board + BLOCK / s->pieces / s->lines;
    const int first = s->own_start[board], hands = hands_on(s->own_start, board);
    const Long start = (Long)first * s->own_actions;
    float *rows = s->values + (Long)first * s->value_rows;
    const Discounts now = now_of(s);
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        const float wobble = wobble_of(now.phase, hand);
        for (int z = s->line_zeros[line]; z < s->line_zeros[line + 1]; z++)
            rows[(Long)s->zeros[z] * hands + hand] = 0.0f;
        for (int pair = s->line_sums[line]; pair < s->line_sums[line + 1]; pair++) {
            const int leaf = s->leaf_sums[2 * pair], target = s->leaf_sums[2 * pair + 1];
            rows[(Long)target * hands + hand] += rows[(Long)leaf * hands + hand];
        }
        for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
            const Node node = s->nodes[n];
            if (!node.own) continue;
            const Long base =
                start + (Long)node.slot * hands + hand / 16 * 16 * node.actions + hand % 16;
            const float *values = rows + (Long)node.child * hands + hand;
            const Long lock = (Long)first * s->own_nodes + (Long)node.number * hands + hand;
            const bool locked = s->own_locked && s->own_locked[lock] > 0.0f;
            float value;
            if (s->mode == UPDATE)
                value = learn(s->own_regrets + base, s->own_average + base, values, hands, now,
                              wobble, locked, node.actions);
            else if (s->mode == BEST_RESPONSE && !locked)
                value = best(values, hands, node.actions);
            else
                value = play(s->own_average + base, values, hands, node.actions);
            float *target = rows + (Long)node.value * hands + hand;
            *target = node.adds ? *target + value : value;
        }
        s->line_values[(Long)first * s->lines + (Long)line * hands + hand] =
            rows[(Long)s->line_value[line] * hands + hand];
    }
}

// Positive regrets of a board, padding left out.
KERNEL sum_regrets(const Street *ONLY s) {
    const int board = BLOCK, first = s->own_start[board], hands = hands_on(s->own_start, board);
    const Regret *regrets = s->own_regrets + (Long)first * s->own_actions;
    PositiveRegrets found = {};
    for (int n = 0; n < s->line_nodes[s->lines]; n++) {
        const Node node = s->nodes[n];
        if (!node.own) continue;
        for (int hand = THREAD; hand < hands; hand += THREADS) {
            if (s->own_cards[2 * (first + hand)] == CARDS - 1) continue;
            const Long base = (Long)node.slot * hands + hand / 16 * 16 * node.actions + hand % 16;
            for (int a = 0; a < node.actions; a++) note(found, widen(regrets[base + 16 * a]));
        }
    }
    add_up(found, s->regret_sums + 2 * board);
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Street *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->clock[0]++;
}
