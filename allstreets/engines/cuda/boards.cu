// One half-iteration of games with real boards: all pots on all flops of an engine that go by the
// same pair of ranges (`boards_passes.py`). `boards.kernels.layout` and `exact.kernels.layout` say
// what buckets and lines are.
//
//     forward       the opponent's reach at all nodes of a flop or turn
//     folds         what folds there are worth
//     deal          reach on the river boards below a turn: hands into buckets (rivers.cuh)
//     play_rivers   some lines of a river board, all of it in shared memory (rivers.cuh)
//     collect       the values of the river boards below a turn, summed at its leaves (rivers.cuh)
//     backward      values and regrets of all nodes of a flop or turn
//     gather        the values of the turns below a flop, summed at its leaves
//     total         values of the root, by hand class
//     sum_regrets   positive regrets
//
// Reach and values of the lines of a river board stand in one place, one after the other.
// BUCKETS are those of a player's hands on every river board.

#include "streets.cuh"

#define CLASSES 169
#define QUARTERS (BUCKETS / 4)

struct Fold {
    int reach, value;
    float factor;
    int pot;
};
struct Piece;
struct Run;
struct Term;

// Both players hold the same hands, so both starts of a `Street` are the same.
struct Boards : Street {
    const Byte *visits; // [F][P]
    Long pots, flops;
    const int *line_pot; // [lines]
    const Fold *folds;
    const int *leaf_reach, *leaf_pot;              // [leaves]: rows, and pots
    const int *player_actions, *opponent_actions;  // [P + 1]
    const int *flop_of;                            // [B]
    const int *flop_first;                         // [F + 1]: boards
    const int *player_rows, *opponent_rows;        // [B + 1]: hands, or buckets, that are stored
    const Short *player_bucket, *opponent_bucket;  // by hand of a turn; 0: every hand its own
    const int *member_first;                       // by bucket of the player's: its hands
    const Short *members;
    const float *member_share;
    const Byte *size;  // by hand: its combos; 0 for padding
    const Byte *cards; // by hand, 2
    const float *root; // [P][169]: the opponent's reach before the flop
    const int *below_row;                          // [leaves]
    const Short *class_start, *class_hand;         // [F][170]: hands of each class on the flop
    double *out;                                   // [P][F][169]
    // Between turn and river.
    Long lane_blocks;            // of WIDE lines
    const int *children;         // [B + 1]: river boards
    const Short *bucket_first;   // [rivers][buckets + 1]: fours of places
    const Short *bucket_hand;    // hands on the turn of the opponent's combos, by bucket
    const int *bucket_fours;     // [rivers + 1]: fours before each board's
    Long parts, part;            // in which the rivers of a turn are collected; rivers of a part
    const int *entry_start;      // by the player's hand of the turn and part: fours of places
    const Short *entries;        // buckets · river of the part + bucket
    const float *chance;         // [rivers]
    const float *share;          // by the player's hand of the turn
    float *line_rows;            // [rivers][river lines][buckets]: reach, and then values · chance
    // River.
    Long piece_count;
    const Piece *river_pieces;
    const Run *runs;
    const Term *products;
    const signed char *margin, *pairs; // [rivers][buckets][buckets]
    const int *player_live;            // [B]: of player_rows those without padding
};

DEVICE bool visited(const Boards *ONLY s, int flop, int pot) {
    return s->visits[flop * s->pots + pot];
}

DEVICE Weights weights_of(const Boards *ONLY s, int flop, int pot) {
    const Long row = (2 * s->clock[0] + s->player) * s->flops + flop;
    return s->weights[row * s->pots + pot];
}

// Where the numbers of a pot's nodes on a board begin. All boards of a pot on a flop come before
// those of the next pot; `rows` are stored before each board, `actions` before each pot.
DEVICE Numbers numbers_of(const Boards *ONLY s, const int *rows, const int *actions, int board,
                          int pot) {
    const int flop = s->flop_of[board];
    const Long first = rows[s->flop_first[flop]], last = rows[s->flop_first[flop + 1]];
    const Long before = actions[pot], mine = actions[pot + 1] - before;
    return {actions[s->pots] * first + before * (last - first) + mine * (rows[board] - first),
            rows[board + 1] - rows[board]};
}

// ---- flop and turn, the forward pass: what `streets.cuh` asks for

DEVICE float tremble_of(const Boards *ONLY s) { return 0.0f; }
DEVICE bool line_visited(const Boards *ONLY s, int board, int line) {
    return visited(s, s->flop_of[board], s->line_pot[line]);
}
DEVICE bool leaf_visited(const Boards *ONLY s, int board, int leaf) {
    return visited(s, s->flop_of[board], s->leaf_pot[leaf]);
}
DEVICE int row_below(const Boards *ONLY s, int leaf) { return s->below_row[leaf]; }
DEVICE int opponent_row(const Boards *ONLY s, int board, int hand) {
    return s->opponent_bucket ? s->opponent_bucket[s->opponent_start[board] + hand] : hand;
}
DEVICE Numbers opponent_numbers(const Boards *ONLY s, int board, int line) {
    return numbers_of(s, s->opponent_rows, s->opponent_actions, board, s->line_pot[line]);
}
// From the board above, or from before the flop.
DEVICE float reach_in(const Boards *ONLY s, int board, int line, int hand) {
    const int above = s->parent_hand[s->opponent_start[board] + hand];
    if (s->above_start) return reach_above(s, board, line, above);
    return above < CLASSES ? s->root[line * CLASSES + above] : 0.0f;
}

KERNEL forward(const Boards *ONLY s) { forward_line(s); }
KERNEL gather(const Boards *ONLY s) { gather_leaf(s); }

// A fold is worth the same against all hands that fit beside the player's.
KERNEL folds(const Boards *ONLY s) {
    SHARED(memory);
    const int tile = modulo(BLOCK, s->tiles), board = s->first_board + quotient(BLOCK, s->tiles);
    const Fold *folds = s->folds + LANES * tile; // filled up with folds that nobody reads
    bool some = false;
    EACH_TERMINAL some |= visited(s, s->flop_of[board], folds[lane].pot);
    if (!some) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
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

// ---- flop and turn, the backward pass

// What a bucket learns; chances [action][bucket] say how its hands play: as they
// did, moved by `ahead` towards what the new regrets will play.
template <int A>
DEVICE void learn_bucket(const Boards *ONLY s, Regret *regrets, Fraction *average,
                         const float *values, Long stride, const int *members, float *chances,
                         int buckets, const Weights &weights, float wobble, int run_time) {
    const int actions = A ? A : run_time;
    float worth[A ? A : MOST_ACTIONS], played[A ? A : MOST_ACTIONS], total = 0.0f;
    UNROLL for (int a = 0; a < actions; a++) {
        worth[a] = 0.0f;
        played[a] = above(widen(regrets[16 * a]));
        total += played[a];
    }
#pragma unroll 2
    for (int each = members[0]; each < members[1]; each++) {
        const int hand = s->members[each];
        const float share = s->member_share[each];
        UNROLL for (int a = 0; a < actions; a++) worth[a] += share * values[a * stride + hand];
    }
    const Shares before = shares(total, 1.0f, actions);
    learn<A>(regrets, average, worth, 1, weights, wobble, false, actions);
    total = 0.0f;
    UNROLL for (int a = 0; a < actions; a++) total += above(widen(regrets[16 * a]));
    const Shares after = shares(total, 1.0f, actions);
    const float moved = total > TINY ? weights.ahead : 0.0f;
    UNROLL for (int a = 0; a < actions; a++) {
        const float chance = played[a] * before.factor + before.even;
        const float then = above(widen(regrets[16 * a])) * after.factor + after.even;
        chances[a * buckets] = chance + moved * (then - chance);
    }
}

SMALL_KERNEL(256, 3) backward(const Boards *ONLY s) {
    SHARED(chances);
    const int line = modulo(BLOCK, s->lines), board = s->first_board + quotient(BLOCK, s->lines);
    const int flop = s->flop_of[board], pot = s->line_pot[line];
    if (!visited(s, flop, pot)) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
    const Numbers numbers = numbers_of(s, s->player_rows, s->player_actions, board, pot);
    const int first_bucket = s->player_rows[board], count = numbers.count;
    const Weights weights = weights_of(s, flop, pot);
    const bool learns_by_bucket = s->player_bucket && s->mode == UPDATE;
    float *rows = s->values + (Long)first * s->value_rows;
    for (int hand = THREAD; hand < hands; hand += THREADS) sum_leaves(s, line, rows, hands, hand);
    for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
        const Node node = s->nodes[n];
        if (!node.is_player) continue;
        const float *values = rows + (Long)node.child * hands;
        if (learns_by_bucket) {
            SYNC(); // values of all hands are there, and nobody reads chances any more
            for (int bucket = THREAD; bucket < count; bucket += THREADS) {
                const Long at = number_at(numbers, node, bucket);
                const int *members = s->member_first + first_bucket + bucket;
                const float wobble = dither(weights.phase, bucket);
                by_actions<3>(node.actions, [&](auto known) {
                    learn_bucket<known.count>(s, s->player_regrets + at, s->player_average + at,
                                              values, hands, members, chances + bucket, count,
                                              weights, wobble, node.actions);
                });
            }
            SYNC();
        }
        for (int hand = THREAD; hand < hands; hand += THREADS) {
            const int row = s->player_bucket ? s->player_bucket[first + hand] : hand;
            const Long at = number_at(numbers, node, row);
            float value = 0.0f;
            if (learns_by_bucket)
                for (int a = 0; a < node.actions; a++)
                    value += chances[a * count + row] * values[(Long)a * hands + hand];
            else
                value = decide(s->mode, s->player_regrets + at, s->player_average + at, values + hand,
                               hands, weights, dither(weights.phase, hand), false, node.actions);
            put_value(node, rows, hands, hand, value);
        }
    }
}

// Values of a pot on a flop: those of the combos of each class.
KERNEL total(const Boards *ONLY s) {
    const int pot = modulo(BLOCK, s->pots), flop = s->first_board + quotient(BLOCK, s->pots);
    const int first = s->player_start[flop], hands = hands_on(s->player_start, flop);
    const float *values =
        s->values + (Long)first * s->value_rows + (Long)s->line_value[pot] * hands;
    const Short *start = s->class_start + (Long)flop * (CLASSES + 1);
    const Short *of_class = s->class_hand + first;
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
    const int pot = modulo(BLOCK, s->pots), flop = quotient(BLOCK, s->pots);
    const int *rows = s->player_rows;
    int board = s->flop_first[flop];
    const int last = rows[s->flop_first[flop + 1]];
    PositiveRegrets found = {};
    for (int each = rows[board] + THREAD; each < last; each += THREADS) {
        while (rows[board + 1] <= each) board++;
        const int row = each - rows[board];
        if (row >= s->player_live[board]) continue;
        const Numbers numbers = numbers_of(s, rows, s->player_actions, board, pot);
        for (int line = 0; line < s->lines; line++) {
            if (s->line_pot[line] != pot) continue;
            for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
                const Node node = s->nodes[n];
                if (!node.is_player) continue;
                const Regret *regrets = s->player_regrets + number_at(numbers, node, row);
                for (int a = 0; a < node.actions; a++) note(found, widen(regrets[16 * a]));
            }
        }
    }
    add_up(found, s->regret_sums + 2 * (Long)BLOCK);
}

#include "products.cuh"
#include "rivers.cuh"
