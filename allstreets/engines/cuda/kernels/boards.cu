// One half-iteration of games with real boards: all pots on all flops of an engine that go by the
// same pair of ranges. `boards.kernels.layout` and `exact.kernels.layout` say what groups, rows and
// lines are; `subgames.cuda_boards_layout` lays them out for these kernels.
//
//     descend   the other's reach at all nodes of a flop or turn
//     folds     what folds there are worth
//     deal      reach on the river boards below a turn: hands into groups (groups.cuh)
//     play_lines  some lines of a river board, all of it in shared memory (rivers.cuh)
//     collect   the values of the river boards below a turn, summed at its leaves (groups.cuh)
//     ascend    values and regrets of all nodes of a flop or turn
//     gather    the values of the turns below a flop, summed at its leaves
//     total     values of the root, by class
//     sum_regrets  positive regrets
//
// Reach and values of the lines of a river board stand in one place, one after the other.
// GROUPS are those of a player's hands on every river board.

#define UPDATE 0
#define BEST_RESPONSE 1
#define CARDS 53      // the last one is held by padding
#define CLASSES 169
#define LANES 4       // folds that a block works on side by side
#define SEGMENTS 32   // parts in which the other's hands are summed side by side
#define QUARTERS (GROUPS / 4)

struct alignas(16) Node {
    int own, actions, reach, child, value, adds, slot, stage;
};
struct Fold {
    int reach, value;
    float factor;
    int pot;
};
struct Below {
    int start, hands, hand; // of the own hand's row on a board below
    float weight;
};

DEVICE bool visited(const Boards *ONLY s, int flop, int pot) {
    return s->visits[flop * s->pots + pot];
}

DEVICE Discounts now_of(const Boards *ONLY s, int flop, int pot) {
    const Long row = (2 * s->clock[0] + s->player) * s->flops + flop;
    return ((const Discounts *)s->discounts)[row * s->pots + pot];
}

// Where the numbers of a pot's nodes on a board begin. All boards of a pot on a flop come before
// those of the next pot; `rows` are the stored rows before each board, `actions` before each pot.
DEVICE Long stored_from(const Boards *ONLY s, const int *rows, const int *actions, int board, int pot) {
    const int flop = s->flop_of[board];
    const Long first = rows[s->flop_first[flop]], last = rows[s->flop_first[flop + 1]];
    const Long before = actions[pot], mine = actions[pot + 1] - before;
    return actions[s->pots] * first + before * (last - first) + mine * (rows[board] - first);
}

// ---- flop and turn, the way down

// Where the other's reach of a hand at a line comes from: the board above, or before the flop.
DEVICE float reach_in(const Boards *ONLY s, int board, int line, int hand) {
    const int place = s->parent_hand[s->start[board] + hand];
    if (!s->above_start) return place < CLASSES ? s->root[line * CLASSES + place] : 0.0f;
    const int above = s->parent[board], first = s->above_start[above];
    const int hands = s->above_start[above + 1] - first;
    if (place >= hands) return 0.0f;
    const Long row = (Long)first * s->above_rows + (Long)s->above_row[line] * hands;
    return s->above_reach[row + place];
}

KERNEL descend(const Boards *ONLY s) {
    const int piece = BLOCK % s->pieces, line = BLOCK / s->pieces % s->lines;
    const int board = s->first_board + BLOCK / s->pieces / s->lines, pot = s->line_pot[line];
    if (!visited(s, s->flop_of[board], pot)) return;
    const int first = s->start[board], hands = hands_on(s->start, board);
    const int count = s->other_rows[board + 1] - s->other_rows[board];
    const Long start = stored_from(s, s->other_rows, s->other_actions, board, pot);
    float *rows = s->reach + (Long)first * s->reach_rows;
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        rows[(Long)s->line_reach[line] * hands + hand] = reach_in(s, board, line, hand);
        const int row = s->other_row ? s->other_row[first + hand] : hand;
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.own) continue;
            const Long base =
                start + (Long)node.slot * count + row / 16 * 16 * node.actions + row % 16;
            if (s->mode == UPDATE)
                split(s->other_regrets + base, rows, hands, node.reach, node.child, hand,
                      node.actions);
            else
                split(s->other_average + base, rows, hands, node.reach, node.child, hand,
                      node.actions);
        }
    }
}

// A fold is worth the same against all hands that fit beside the own one.
KERNEL folds(const Boards *ONLY s) {
    SHARED(memory);
    const int tile = BLOCK % s->tiles, board = s->first_board + BLOCK / s->tiles;
    const Fold *folds = s->folds + LANES * tile; // filled up with folds that nobody reads
    bool some = false;
    for (int lane = 0; lane < LANES; lane++) some |= visited(s, s->flop_of[board], folds[lane].pot);
    if (!some) return;
    const int first = s->start[board], hands = hands_on(s->start, board);
    const float *rows = s->reach + (Long)first * s->reach_rows;
    Four *reach = (Four *)memory, *by_card = reach + hands, *parts = by_card + CARDS;
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        Four here;
        EACH_LANE here.lane[i] = rows[(Long)folds[i].reach * hands + hand];
        reach[hand] = here;
    }
    SYNC();
    const Short *card_start = s->card_start + (Long)board * (CARDS + 1);
    const Short *card_hand = s->card_hand + 2 * (Long)s->combo_start[board];
    for (int task = THREAD; task < (CARDS + SEGMENTS) * LANES; task += THREADS) {
        const int lane = task % LANES, piece = task / LANES;
        const float *numbers = (const float *)reach + lane;
        float total = 0.0f;
        if (piece < CARDS) {
            const int last = card_start[piece + 1];
#pragma unroll 4
            for (int c = card_start[piece]; c < last; c++) total += numbers[LANES * card_hand[c]];
            ((float *)(by_card + piece))[lane] = total;
        } else {
            for (int hand = piece - CARDS; hand < hands; hand += SEGMENTS)
                total += s->size[first + hand] * numbers[LANES * hand];
            ((float *)(parts + piece - CARDS))[lane] = total;
        }
    }
    SYNC();
    Four whole = all(0.0f);
    for (int piece = 0; piece < SEGMENTS; piece++) whole = whole + parts[piece];
    float *values = s->values + (Long)first * s->value_rows;
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        Four met = all(0.0f);
        if (s->size[first + hand]) { // else padding
            const Byte *cards = s->cards + 2 * (Long)(first + hand);
            met = whole - by_card[cards[0]] - by_card[cards[1]] + reach[hand];
        }
        EACH_LANE if (folds[i].value >= 0) values[(Long)folds[i].value * hands + hand] =
            folds[i].factor * met.lane[i];
    }
}

// ---- flop and turn, the way up

// What a row of hands that play alike learns; chances [action][row] say how its hands play: as they
// did, moved by `ahead` towards what the new regrets will play.
template <int A>
DEVICE void learn_row(const Boards *ONLY s, Regret *regrets, Fraction *average, const float *values,
                      Long stride, const int *members, float *chances, int rows, const Discounts &now,
                      float wobble, int run_time) {
    const int actions = A ? A : run_time;
    float worth[A ? A : MOST_ACTIONS], played[A ? A : MOST_ACTIONS], total = 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++) {
        worth[a] = 0.0f;
        played[a] = above(widen(regrets[16 * a]));
        total += played[a];
    }
#pragma unroll 2
    for (int each = members[0]; each < members[1]; each++) {
        const int hand = s->members[each];
        const float share = s->member_share[each];
#pragma unroll
        for (int a = 0; a < actions; a++) worth[a] += share * values[a * stride + hand];
    }
    const Shares before = shares(total, 1.0f, actions);
    learn(regrets, average, worth, 1, now, wobble, false, actions);
    total = 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++) total += above(widen(regrets[16 * a]));
    const Shares after = shares(total, 1.0f, actions);
    const float moved = total > TINY ? now.ahead : 0.0f;
#pragma unroll
    for (int a = 0; a < actions; a++) {
        const float chance = played[a] * before.factor + before.even;
        const float then = above(widen(regrets[16 * a])) * after.factor + after.even;
        chances[a * rows] = chance + moved * (then - chance);
    }
}

SMALL_KERNEL(256, 3) ascend(const Boards *ONLY s) {
    SHARED(chances);
    const int line = BLOCK % s->lines, board = s->first_board + BLOCK / s->lines;
    const int flop = s->flop_of[board], pot = s->line_pot[line];
    if (!visited(s, flop, pot)) return;
    const int first = s->start[board], hands = hands_on(s->start, board);
    const int first_row = s->own_rows[board], count = s->own_rows[board + 1] - first_row;
    const Long start = stored_from(s, s->own_rows, s->own_actions, board, pot);
    const Discounts now = now_of(s, flop, pot);
    float *rows = s->values + (Long)first * s->value_rows;
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        for (int z = s->line_zeros[line]; z < s->line_zeros[line + 1]; z++)
            rows[(Long)s->zeros[z] * hands + hand] = 0.0f;
        for (int pair = s->line_sums[line]; pair < s->line_sums[line + 1]; pair++) {
            const int leaf = s->leaf_sums[2 * pair], target = s->leaf_sums[2 * pair + 1];
            rows[(Long)target * hands + hand] += rows[(Long)leaf * hands + hand];
        }
    }
    for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
        const Node node = s->nodes[n];
        if (!node.own) continue;
        const Long slot = start + (Long)node.slot * count;
        const float *values = rows + (Long)node.child * hands;
        const bool by_row = s->own_row && s->mode == UPDATE;
        if (by_row) {
            SYNC(); // values of all hands are there, and nobody reads chances any more
            for (int row = THREAD; row < count; row += THREADS) {
                const Long base = slot + row / 16 * 16 * node.actions + row % 16;
                Regret *regrets = s->own_regrets + base;
                Fraction *average = s->own_average + base;
                const int *members = s->member_first + first_row + row;
                const float wobble = wobble_of(now.phase, row);
                switch (node.actions) {
                case 2: learn_row<2>(s, regrets, average, values, hands, members, chances + row,
                                     count, now, wobble, 2); break;
                case 3: learn_row<3>(s, regrets, average, values, hands, members, chances + row,
                                     count, now, wobble, 3); break;
                default: learn_row<0>(s, regrets, average, values, hands, members, chances + row,
                                      count, now, wobble, node.actions);
                }
            }
            SYNC();
        }
        for (int hand = THREAD; hand < hands; hand += THREADS) {
            const int row = s->own_row ? s->own_row[first + hand] : hand;
            const Long base = slot + row / 16 * 16 * node.actions + row % 16;
            float value = 0.0f;
            if (by_row)
                for (int a = 0; a < node.actions; a++)
                    value += chances[a * count + row] * values[(Long)a * hands + hand];
            else if (s->mode == UPDATE)
                value = learn(s->own_regrets + base, s->own_average + base, values + hand, hands, now,
                              wobble_of(now.phase, hand), false, node.actions);
            else if (s->mode == BEST_RESPONSE)
                value = best(values + hand, hands, node.actions);
            else
                value = play(s->own_average + base, values + hand, hands, node.actions);
            float *target = rows + (Long)node.value * hands + hand;
            *target = node.adds ? *target + value : value;
        }
    }
}

// The leaves of a flop: the values of the turns below.
KERNEL gather(const Boards *ONLY s) {
    const int piece = BLOCK % s->pieces, leaf = BLOCK / s->pieces % s->leaves;
    const int board = s->first_board + BLOCK / s->pieces / s->leaves;
    if (!visited(s, s->flop_of[board], s->leaf_pot[leaf])) return;
    const int first = s->start[board], hands = hands_on(s->start, board), from = s->below_row[leaf];
    float *row = s->values + (Long)first * s->value_rows + (Long)s->leaf_value[leaf] * hands;
    const int upto = (piece + 1) * s->piece < hands ? (piece + 1) * s->piece : hands;
    for (int hand = piece * s->piece + THREAD; hand < upto; hand += THREADS) {
        float sum = 0.0f;
        const int last = s->below_start[first + hand + 1];
#pragma unroll 4
        for (int place = s->below_start[first + hand]; place < last; place++) {
            const Below below = s->below[place];
            const Long at = (Long)below.start * s->below_rows + (Long)from * below.hands;
            sum += below.weight * s->below_values[at + below.hand];
        }
        row[hand] = sum;
    }
}

// Values of a pot on a flop: those of the combos of each class.
KERNEL total(const Boards *ONLY s) {
    const int pot = BLOCK % s->pots, flop = s->first_board + BLOCK / s->pots;
    const int first = s->start[flop], hands = hands_on(s->start, flop);
    const float *values =
        s->values + (Long)first * s->value_rows + (Long)s->line_value[pot] * hands;
    const Short *start = s->class_start + (Long)flop * (CLASSES + 1), *of_class = s->class_hand + first;
    const bool seen = visited(s, flop, pot);
    for (int each = THREAD; each < CLASSES; each += THREADS) {
        double sum = 0.0;
        if (seen)
            for (int place = start[each]; place < start[each + 1]; place++) {
                const int hand = of_class[place];
                sum += (double)values[hand] * s->size[first + hand];
            }
        s->out[((Long)pot * s->flops + flop) * CLASSES + each] = sum;
    }
}

// Positive regrets of a pot on the boards of a flop, padding left out.
KERNEL sum_regrets(const Boards *ONLY s) {
    const int pot = BLOCK % s->pots, flop = BLOCK / s->pots;
    const int *rows = s->own_rows;
    int board = s->flop_first[flop];
    const int last = rows[s->flop_first[flop + 1]];
    PositiveRegrets found = {};
    for (int each = rows[board] + THREAD; each < last; each += THREADS) {
        while (rows[board + 1] <= each) board++;
        const int row = each - rows[board], count = rows[board + 1] - rows[board];
        if (row >= s->own_live[board]) continue;
        const Regret *regrets = s->own_regrets + stored_from(s, rows, s->own_actions, board, pot);
        for (int line = 0; line < s->lines; line++) {
            if (s->line_pot[line] != pot) continue;
            for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
                const Node node = s->nodes[n];
                if (!node.own) continue;
                const Long base = (Long)node.slot * count + row / 16 * 16 * node.actions + row % 16;
                for (int a = 0; a < node.actions; a++) note(found, widen(regrets[base + 16 * a]));
            }
        }
    }
    add_up(found, s->regret_sums + 2 * (Long)BLOCK);
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Boards *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->clock[0]++;
}
