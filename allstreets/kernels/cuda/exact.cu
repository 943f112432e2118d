// One half-iteration of an exact subgame, a street at a time. `kernels.exact_layout` says what
// rows, lines, choices and answers are; `subgames.cuda_layout` lays them out for these kernels.
//
//     descend   a board before the river: the other's reach at all of its nodes
//     all_in    ... what all-ins are worth, by the matrix of the board
//     ends      ... what folds and all-ins are worth
//     river     a line on a river board, all of it, in shared memory
//     gather    the values of the boards below a board, summed at its leaves
//     ascend    a board before the river: values and regrets of all of its nodes
//
// Every hand is a column of its own on the way down and on the way up; hands meet only at the ends.

#define UPDATE 0
#define BEST_RESPONSE 1
#define LANES 8    // ends that a block works on side by side
#define SEGMENTS 32 // parts in which the other's combos are summed side by side
#define CARDS 53   // the last one is held by padding

struct Node {
    int own, actions, reach, child, value, adds, slot, number;
};
struct End { // a choice: reach, showdown and fold rows; an answer: showdown, fold and value rows
    int first, second, third; // −1: none
    float stake, rake, fold;
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

DEVICE int hands_on(const int *start, int board) { return start[board + 1] - start[board]; }

// Rows of a block stand apart by 4 more than whole groups of 32: eight rows of four hands are then
// in 32 banks.
DEVICE int apart(int hands) { return (hands + 31) / 32 * 32 + 4; }

DEVICE const Discounts now_of(const Street *ONLY s) {
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

DEVICE void go_down(const Street *ONLY s, int board, int first, int last, float *rows, int stride,
                    int hand) {
    const int hands = hands_on(s->other_start, board);
    const Long start = (Long)s->other_start[board] * s->other_actions;
    for (int n = first; n < last; n++) {
        const Node node = s->nodes[n];
        if (node.own) continue;
        const Long base = start + (Long)node.slot * hands + hand / 16 * 16 * node.actions + hand % 16;
        if (s->mode == UPDATE)
            split(s->other_regrets + base, rows, stride, node.reach, node.child, hand, node.actions);
        else
            split(s->other_average + base, rows, stride, node.reach, node.child, hand, node.actions);
    }
}

DEVICE void go_up(const Street *ONLY s, int board, int first, int last, float *rows, int stride, int hand,
                  Discounts now) {
    const int hands = hands_on(s->own_start, board);
    const Long start = (Long)s->own_start[board] * s->own_actions;
    const float wobble = wobble_of(now.phase, hand);
    for (int n = last - 1; n >= first; n--) {
        const Node node = s->nodes[n];
        if (!node.own) continue;
        const Long base = start + (Long)node.slot * hands + hand / 16 * 16 * node.actions + hand % 16;
        const float *values = rows + node.child * stride + hand;
        const bool locked =
            s->own_locked &&
            s->own_locked[(Long)s->own_start[board] * s->own_nodes + (Long)node.number * hands + hand] >
                0.0f;
        float value;
        if (s->mode == UPDATE)
            value = learn(s->own_regrets + base, s->own_average + base, values, stride, now, wobble,
                          locked, node.actions);
        else if (s->mode == BEST_RESPONSE && !locked)
            value = best(values, stride, node.actions);
        else
            value = play(s->own_average + base, values, stride, node.actions);
        float *target = rows + node.value * stride + hand;
        *target = node.adds ? *target + value : value;
    }
}

// ---- ends

// What a tile of LANES ends needs in shared memory; C combos of the other player.
struct Sums {
    float *ordered;  // [C + 1][LANES]: of the first combos by strength (river)
    float *by_card;  // [2C + CARDS][LANES]: of the first combos with each card, lists one by one
    float *folds;    // [CARDS][LANES]: of the combos with each card that fold
    float *parts;    // [2][SEGMENTS][LANES]
    float *total;    // [2][LANES]: of all that call, of all that fold
};

DEVICE Sums sums_at(float *memory, int combos) {
    Sums sums;
    sums.ordered = memory;
    sums.by_card = sums.ordered + (combos + 1) * LANES;
    sums.folds = sums.by_card + (2 * combos + CARDS) * LANES;
    sums.parts = sums.folds + CARDS * LANES;
    sums.total = sums.parts + 2 * SEGMENTS * LANES;
    return sums;
}

// The rows that a lane of a tile reads: of those who see a showdown, and of those who fold.
DEVICE int shown_row(const End &end, bool answers) { return end.first; }
DEVICE int fold_row(const End &end, bool answers) { return answers ? end.second : -1; }

// All sums of a tile of ends. `rows` are the other's reach.
DEVICE void add_up(const Street *ONLY s, int board, const End *ends, int count, bool answers,
                   const float *rows, int stride, Sums sums) {
    const int first = s->combo_start[board], combos = s->combo_start[board + 1] - first;
    const Short *hand_of = s->combo_hand + first;
    const int length = (combos + SEGMENTS - 1) / SEGMENTS;
    const Short *card_start = s->card_start + board * (CARDS + 1);
    const Short *card_hand = s->card_hand + 2 * first;
    for (int task = THREAD; task < (SEGMENTS + CARDS) * LANES; task += THREADS) {
        const int lane = task % LANES, piece = task / LANES;
        const int shown = lane < count ? shown_row(ends[lane], answers) : -1;
        const int folds = lane < count ? fold_row(ends[lane], answers) : -1;
        const float *called = rows + shown * stride, *folded = rows + folds * stride;
        if (piece < SEGMENTS) {
            const int from = piece * length;
            const int upto = from + length < combos ? from + length : combos;
            float total = 0.0f, gone = 0.0f;
            if (shown >= 0)
                for (int c = from; c < upto; c++) total += called[hand_of[c]];
            if (folds >= 0)
                for (int c = from; c < upto; c++) gone += folded[hand_of[c]];
            sums.parts[piece * LANES + lane] = total;
            sums.parts[(SEGMENTS + piece) * LANES + lane] = gone;
        } else {
            const int card = piece - SEGMENTS, from = card_start[card], upto = card_start[card + 1];
            float total = 0.0f, gone = 0.0f;
            float *list = sums.by_card + (from + card) * LANES + lane; // one more entry a card
            *list = 0.0f;
            for (int c = from; c < upto; c++) {
                const int hand = card_hand[c];
                if (shown >= 0) total += called[hand];
                if (folds >= 0) gone += folded[hand];
                list += LANES;
                *list = total;
            }
            sums.folds[card * LANES + lane] = gone;
        }
    }
    SYNC();
    for (int task = THREAD; task < SEGMENTS * LANES; task += THREADS) {
        const int lane = task % LANES, piece = task / LANES;
        float total = 0.0f;
        for (int before = 0; before < piece; before++) total += sums.parts[before * LANES + lane];
        if (piece == SEGMENTS - 1) {
            float gone = 0.0f;
            for (int each = 0; each < SEGMENTS; each++)
                gone += sums.parts[(SEGMENTS + each) * LANES + lane];
            sums.total[LANES + lane] = gone;
            sums.total[lane] = total + sums.parts[piece * LANES + lane];
        }
        if (!s->is_river) continue;
        const int shown = lane < count ? shown_row(ends[lane], answers) : -1;
        const int from = piece * length, upto = from + length < combos ? from + length : combos;
        if (piece == 0) sums.ordered[lane] = 0.0f;
        for (int c = from; c < upto; c++) {
            if (shown >= 0) total += rows[shown * stride + hand_of[c]];
            sums.ordered[(c + 1) * LANES + lane] = total;
        }
    }
    SYNC();
}

// The values of a tile of ends; `net` are those of all-ins before the river, a row for each end.
DEVICE void end_values(const Street *ONLY s, int board, const End *ends, int count, bool answers,
                       const float *rows, int stride, const float *net, Sums sums, float *values,
                       int own_stride) {
    const int hands = hands_on(s->own_start, board), start = s->own_start[board];
    const int others = hands_on(s->other_start, board);
    for (int task = THREAD; task < hands * LANES; task += THREADS) {
        const int lane = task % LANES, hand = task / LANES;
        if (lane >= count) continue;
        const End end = ends[lane];
        const int first = s->own_cards[2 * (start + hand)];
        const int second = s->own_cards[2 * (start + hand) + 1];
        const int twin = s->own_twin[start + hand];
        const int shown = shown_row(end, answers), folds = fold_row(end, answers);
        float value = 0.0f, met = 0.0f;
        const bool real = first < CARDS - 1;
        if (real && shown >= 0) {
            const HandTables at = s->tables[start + hand];
            const float every = sums.total[lane] - sums.by_card[at.first_all * LANES + lane] -
                                sums.by_card[at.second_all * LANES + lane];
            met = every + (twin < others ? rows[shown * stride + twin] : 0.0f);
            float won = 0.0f;
            if (s->is_river) {
                won = sums.ordered[at.below * LANES + lane] + sums.ordered[at.upto * LANES + lane];
                won -= sums.by_card[at.first_below * LANES + lane];
                won -= sums.by_card[at.first_upto * LANES + lane];
                won -= sums.by_card[at.second_below * LANES + lane];
                won -= sums.by_card[at.second_upto * LANES + lane];
                won -= every;
            } else if (end.stake != 0.0f) {
                won = net[lane * hands + hand];
            }
            value = end.stake * won + end.rake * met;
        }
        if (!answers) {
            if (end.second >= 0) values[end.second * own_stride + hand] = value;
            if (end.third >= 0) values[end.third * own_stride + hand] = end.fold * met;
            continue;
        }
        if (real && folds >= 0) {
            float gone = sums.total[LANES + lane] - sums.folds[first * LANES + lane] -
                         sums.folds[second * LANES + lane];
            gone += twin < others ? rows[folds * stride + twin] : 0.0f;
            value += end.fold * gone;
        }
        values[end.third * own_stride + hand] = value;
    }
    SYNC();
}

// ---- kernels

// A line on a river board: its rows and sums stand in `memory`.
DEVICE void river_line(const Street *ONLY s, int work, float *memory) {
    const int board = work / s->lines, line = work % s->lines;
    const int others = hands_on(s->other_start, board), hands = hands_on(s->own_start, board);
    const int combos = s->combo_start[board + 1] - s->combo_start[board];
    const int stride = apart(others), own_stride = apart(hands);
    float *rows = memory, *values = rows + s->reach_rows * stride;
    const Sums sums = sums_at(values + s->value_rows * own_stride, combos);
    const int first = s->line_nodes[line], last = s->line_nodes[line + 1];
    for (int hand = THREAD; hand < others; hand += THREADS) {
        rows[s->line_reach[line] * stride + hand] = reach_in(s, board, line, hand);
        go_down(s, board, first, last, rows, stride, hand);
    }
    for (int z = s->line_zeros[line]; z < s->line_zeros[line + 1]; z++)
        for (int hand = THREAD; hand < hands; hand += THREADS)
            values[s->zeros[z] * own_stride + hand] = 0.0f;
    SYNC();
    for (int kind = 0; kind < 2; kind++) {
        const int *range = (kind ? s->line_answers : s->line_choices) + line;
        const End *ends = kind ? s->answers : s->choices;
        for (int from = range[0]; from < range[1]; from += LANES) {
            const int count = range[1] - from < LANES ? range[1] - from : LANES;
            add_up(s, board, ends + from, count, kind, rows, stride, sums);
            end_values(s, board, ends + from, count, kind, rows, stride, 0, sums, values, own_stride);
        }
    }
    const Discounts now = now_of(s);
    float *out = s->line_values + (Long)s->own_start[board] * s->lines + (Long)line * hands;
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        go_up(s, board, first, last, values, own_stride, hand, now);
        out[hand] = values[s->line_value[line] * own_stride + hand];
    }
}

KERNEL river(const Street *ONLY s) {
    SHARED(memory);
    river_line(s, BLOCK, memory);
}

// The same where a line needs more than shared memory has: blocks with rooms of their own.
KERNEL wide_river(const Street *ONLY s) {
    const int blocks = s->rooms, work = s->boards * s->lines;
    for (int each = BLOCK; each < work; each += blocks) {
        river_line(s, each, s->room + (Long)BLOCK * s->room_size);
        SYNC();
    }
}

KERNEL descend(const Street *ONLY s) {
    const int board = BLOCK / s->pieces, piece = BLOCK % s->pieces;
    const int others = hands_on(s->other_start, board);
    float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    for (int hand = piece * s->piece + THREAD; hand < others && hand < (piece + 1) * s->piece;
         hand += THREADS) {
        for (int line = 0; line < s->lines; line++)
            rows[s->line_reach[line] * others + hand] = reach_in(s, board, line, hand);
        go_down(s, board, 0, s->node_count, rows, others, hand);
    }
}

// net [choice or answer][own hand] = Σ over the other's hands of equity · reach. `equity` is
// [other hand][own hand] here, so that neighbours read neighbours.
KERNEL all_in(const Street *ONLY s) {
    const int tiles = s->choice_tiles + s->answer_tiles;
    const int board = BLOCK / (tiles * s->pieces), tile = BLOCK / s->pieces % tiles;
    const int piece = BLOCK % s->pieces;
    const int others = hands_on(s->other_start, board), hands = hands_on(s->own_start, board);
    const bool answers = tile >= s->choice_tiles;
    const int from = LANES * (answers ? tile - s->choice_tiles : tile);
    const int all = answers ? s->answer_count : s->choice_count;
    const int count = all - from < LANES ? all - from : LANES;
    const End *ends = (answers ? s->answers : s->choices) + from;
    bool some = false;
    for (int lane = 0; lane < count; lane++) some |= ends[lane].stake != 0.0f;
    if (!some) return;
    const float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    const float *equity = s->equity + s->equity_start[board];
    float *net = s->net + (Long)s->own_start[board] * tiles * LANES + (Long)tile * LANES * hands;
    for (int hand = piece * s->piece + THREAD; hand < hands && hand < (piece + 1) * s->piece;
         hand += THREADS) {
        float total[LANES];
        const float *row[LANES];
#pragma unroll
        for (int lane = 0; lane < LANES; lane++) {
            const int shown = lane < count ? ends[lane].first : -1;
            row[lane] = rows + (shown < 0 ? 0 : shown) * others;
            total[lane] = 0.0f;
        }
        for (int other = 0; other < others; other++) {
            const float share = equity[(Long)other * hands + hand];
#pragma unroll
            for (int lane = 0; lane < LANES; lane++) total[lane] += share * row[lane][other];
        }
#pragma unroll
        for (int lane = 0; lane < LANES; lane++)
            if (lane < count) net[lane * hands + hand] = total[lane];
    }
}

KERNEL ends(const Street *ONLY s) {
    SHARED(memory);
    const int tiles = s->choice_tiles + s->answer_tiles;
    const int board = BLOCK / tiles, tile = BLOCK % tiles;
    const int others = hands_on(s->other_start, board), hands = hands_on(s->own_start, board);
    const int combos = s->combo_start[board + 1] - s->combo_start[board];
    const bool answers = tile >= s->choice_tiles;
    const int from = LANES * (answers ? tile - s->choice_tiles : tile);
    const int all = answers ? s->answer_count : s->choice_count;
    const int count = all - from < LANES ? all - from : LANES;
    const End *ends = (answers ? s->answers : s->choices) + from;
    const float *rows = s->reach + (Long)s->other_start[board] * s->reach_rows;
    float *values = s->values + (Long)s->own_start[board] * s->value_rows;
    const float *net = s->net + (Long)s->own_start[board] * tiles * LANES + (Long)tile * LANES * hands;
    const Sums sums = sums_at(memory, combos);
    add_up(s, board, ends, count, answers, rows, others, sums);
    end_values(s, board, ends, count, answers, rows, others, net, sums, values, hands);
}

KERNEL gather(const Street *ONLY s) {
    const int board = BLOCK / (s->leaves * s->pieces), leaf = BLOCK / s->pieces % s->leaves;
    const int piece = BLOCK % s->pieces;
    const int start = s->own_start[board], hands = hands_on(s->own_start, board);
    float *row = s->values + (Long)start * s->value_rows + (Long)s->leaf_value[leaf] * hands;
    const int below_row = s->below_row[leaf];
    for (int hand = piece * s->piece + THREAD; hand < hands && hand < (piece + 1) * s->piece;
         hand += THREADS) {
        float total = 0.0f;
        for (int place = s->below_start[start + hand]; place < s->below_start[start + hand + 1];
             place++) {
            const Below below = s->below[place];
            const Long at = (Long)below.start * s->below_rows + (Long)below_row * below.hands;
            total += below.weight * s->below_values[at + below.hand];
        }
        row[hand] = total;
    }
}

KERNEL ascend(const Street *ONLY s) {
    const int board = BLOCK / s->pieces, piece = BLOCK % s->pieces;
    const int hands = hands_on(s->own_start, board);
    float *rows = s->values + (Long)s->own_start[board] * s->value_rows;
    const Discounts now = now_of(s);
    for (int hand = piece * s->piece + THREAD; hand < hands && hand < (piece + 1) * s->piece;
         hand += THREADS) {
        for (int pair = 0; pair < s->leaf_sum_count; pair++) {
            const int leaf = s->leaf_sums[2 * pair], target = s->leaf_sums[2 * pair + 1];
            rows[target * hands + hand] += rows[leaf * hands + hand];
        }
        go_up(s, board, 0, s->node_count, rows, hands, hand, now);
    }
}

// Rows that are only ever added to, of a board before the river.
KERNEL clear(const Street *ONLY s) {
    const int board = BLOCK, hands = hands_on(s->own_start, board);
    float *rows = s->values + (Long)s->own_start[board] * s->value_rows;
    for (int z = 0; z < s->zero_count; z++)
        for (int hand = THREAD; hand < hands; hand += THREADS)
            rows[s->zeros[z] * hands + hand] = 0.0f;
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Street *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->clock[0]++;
}
