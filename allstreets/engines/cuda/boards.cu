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
    const Byte *pot_locked;            // [P]: whether some decision of the player's is
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

// ---- flop and turn: what `streets.cuh` asks for

DEVICE float tremble_of(const Boards *ONLY s) { return 0.0f; }
DEVICE bool line_visited(const Boards *ONLY s, int board, int line) {
    return visited(s, s->flop_of[board], s->line_pot[line]);
}
DEVICE bool leaf_visited(const Boards *ONLY s, int board, int leaf) {
    return visited(s, s->flop_of[board], s->leaf_pot[leaf]);
}
DEVICE int row_below(const Boards *ONLY s, int leaf) { return s->below_row[leaf]; }
DEVICE Numbers opponent_numbers(const Boards *ONLY s, int board, int line, bool) {
    return numbers_of(s, s->opponent_rows, s->opponent_actions, board, s->line_pot[line]);
}
DEVICE Numbers player_numbers(const Boards *ONLY s, int board, int line) {
    return numbers_of(s, s->player_rows, s->player_actions, board, s->line_pot[line]);
}
DEVICE Weights weights_at(const Boards *ONLY s, int board, int line) {
    return weights_of(s, s->flop_of[board], s->line_pot[line]);
}
// From the board above, or from before the flop.
DEVICE float reach_in(const Boards *ONLY s, int board, int line, int hand) {
    const int above = s->parent_hand[s->opponent_start[board] + hand];
    if (s->above_start) return reach_above(s, board, line, above);
    return above < CLASSES ? s->root[line * CLASSES + above] : 0.0f;
}

KERNEL forward(const Boards *ONLY s) { forward_line<true>(s); }
KERNEL gather(const Boards *ONLY s) { gather_leaf(s); }
SMALL_KERNEL(256, 3) backward(const Boards *ONLY s) { backward_line(s); }

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
                if (!node.is_player || node.locked) continue;
                const Regret *regrets = s->player_regrets + number_at(numbers, node, row);
                for (int a = 0; a < node.actions; a++) note(found, widen(regrets[16 * a]));
            }
        }
    }
    add_up(found, s->regret_sums + 2 * (Long)BLOCK);
}

#include "products.cuh"
#include "rivers.cuh"
