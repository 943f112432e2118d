// One half-iteration of an exact subgame, a street at a time (`exact.py`).
//
//     forward    the opponent's reach at all nodes of some boards
//     all_in     what all-ins before the river are worth, by the matrices of the boards
//     terminals  what folds and showdowns are worth
//     gather     the values of the boards below a board, summed at its leaves
//     backward   values and regrets of all nodes
//
// Every hand is a column of its own in both passes; hands meet only at terminals.

#include "streets.cuh"

#define SLICES 8 // of the opponent's hands at an all-in

struct Terminal { // rows, −1: none
    int called, folded;      // the opponent's reach at the showdown, and when he folds
    int value, fold_value;   // of both together, and of the player's own fold
    float stake, rake, fold; // a fold of either: what it is worth
    float unused;
};
struct HandTables { // of the player's hand on a board, as places in the sums of the opponent's combos
    Short below, upto;
    Short first_below, first_upto, second_below, second_upto; // among those with a card of it
    Short first_all, second_all;
};

struct Exact : Street {
    Long is_river;
    const Terminal *terminals; // those that show hands first
    Long all_in_tiles;         // in which some do
    Long player_actions, opponent_actions;
    const Byte *player_cards;
    const Short *player_twin;
    const HandTables *tables;
    const Short *combo_hand;
    const Long *equity_start;
    const float *equity;
    float *line_values; // [player's hands][lines], board by board
    float *net;
    const float *tremble; // [1]: of the opponent's reach, takes every action while the player learns
};

// What `streets.cuh` asks for: all is visited.
DEVICE float tremble_of(const Exact *ONLY s) { return s->tremble[0]; }
DEVICE bool line_visited(const Exact *ONLY s, int board, int line) { return true; }
DEVICE bool leaf_visited(const Exact *ONLY s, int board, int leaf) { return true; }
DEVICE int row_below(const Exact *ONLY s, int leaf) { return leaf; }
DEVICE Numbers opponent_numbers(const Exact *ONLY s, int board, int line, bool in_buckets) {
    const int *rows = in_buckets ? s->opponent_rows : s->opponent_start;
    return {rows[board] * s->opponent_actions, hands_on(rows, board)};
}
DEVICE Numbers player_numbers(const Exact *ONLY s, int board, int line) {
    return {s->player_rows[board] * s->player_actions, hands_on(s->player_rows, board)};
}
DEVICE Weights weights_at(const Exact *ONLY s, int board, int line) {
    return s->weights[2 * s->clock[0] + s->player];
}
DEVICE float reach_in(const Exact *ONLY s, int board, int line, int hand) {
    return reach_above(s, board, line, s->parent_hand[s->opponent_start[board] + hand]);
}

SMALL_KERNEL(128, 12) forward(const Exact *ONLY s) { forward_line<false>(s); }
SMALL_KERNEL(128, 8) forward_buckets(const Exact *ONLY s) { forward_line<true>(s); }
KERNEL gather(const Exact *ONLY s) { gather_leaf(s); }

// ---- terminals

// What a tile of LANES terminals needs in shared memory; H hands and C combos of the opponent.
struct Sums {
    Four *called, *folded; // [H]: reach, four terminals side by side
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

SMALL_KERNEL(512, 2) terminals(const Exact *ONLY s) {
    SHARED(memory);
    const int board = s->first_board + quotient(BLOCK, s->tiles), tile = modulo(BLOCK, s->tiles);
    const int opponents = hands_on(s->opponent_start, board), hands = hands_on(s->player_start, board);
    const int first = s->combo_start[board], combos = s->combo_start[board + 1] - first;
    const Terminal *terminals = s->terminals + LANES * tile; // filled up with some that nobody reads
    const float *rows = s->reach + (Long)s->opponent_start[board] * s->reach_rows;
    const Sums sums = sums_at(memory, opponents, combos);
    int called[LANES], folded[LANES], folds = 0;
    float stake[LANES], rake[LANES], fold[LANES];
    EACH_TERMINAL {
        called[lane] = terminals[lane].called, folded[lane] = terminals[lane].folded;
        stake[lane] = terminals[lane].stake, rake[lane] = terminals[lane].rake;
        fold[lane] = terminals[lane].fold;
        folds |= folded[lane] >= 0;
    }
    for (int hand = THREAD; hand < opponents; hand += THREADS) {
        Four call, gone;
        EACH_TERMINAL {
            call.lane[lane] = called[lane] >= 0 ? rows[(Long)called[lane] * opponents + hand] : 0.0f;
            gone.lane[lane] = folded[lane] >= 0 ? rows[(Long)folded[lane] * opponents + hand] : 0.0f;
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
    const int start = s->player_start[board];
    float *values = s->values + (Long)start * s->value_rows;
    const float *net = s->net + ((Long)start * s->tiles + (Long)tile * hands) * LANES;
    const Four whole = sums.total[0], left = sums.total[1];
    for (int hand = THREAD; hand < hands; hand += THREADS) {
        const int card = s->player_cards[2 * (start + hand)];
        const int twin = s->player_twin[start + hand];
        Four value = {}, met = {};
        if (card < CARDS - 1) { // else padding
            const HandTables at = s->tables[start + hand];
            const Four every = whole - sums.by_card[at.first_all] - sums.by_card[at.second_all];
            met = twin < opponents ? every + sums.called[twin] : every;
            Four won = {};
            if (s->is_river) {
                won = sums.ordered[at.below] + sums.ordered[at.upto];
                won = won - sums.by_card[at.first_below] - sums.by_card[at.first_upto];
                won = won - sums.by_card[at.second_below] - sums.by_card[at.second_upto] - every;
            } else {
                EACH_TERMINAL
                    won.lane[lane] = stake[lane] != 0.0f ? net[lane * hands + hand] : 0.0f;
            }
            EACH_TERMINAL
                value.lane[lane] = stake[lane] * won.lane[lane] + rake[lane] * met.lane[lane];
            if (folds) {
                const int second = s->player_cards[2 * (start + hand) + 1];
                Four other = left - sums.folds[card] - sums.folds[second];
                if (twin < opponents) other = other + sums.folded[twin];
                EACH_TERMINAL
                    if (folded[lane] >= 0) value.lane[lane] += fold[lane] * other.lane[lane];
            }
        }
        EACH_TERMINAL {
            const int row = terminals[lane].value, fold_row = terminals[lane].fold_value;
            if (row >= 0) values[(Long)row * hands + hand] = value.lane[lane];
            if (fold_row >= 0) values[(Long)fold_row * hands + hand] = fold[lane] * met.lane[lane];
        }
    }
}

// net [tile][terminal][player's hand] = Σ over the opponent's hands of equity · reach. `equity` is
// [opponent's hand][player's hand] here, so that neighbours read neighbours. A flop has few pieces, so
// the opponent's hands are cut into SLICES, which are summed side by side.
SMALL_KERNEL(1024, 1) all_in(const Exact *ONLY s) {
    SHARED(memory);
    const int piece = modulo(BLOCK, s->pieces), place = quotient(BLOCK, s->pieces);
    const int tile = modulo(place, s->all_in_tiles);
    const int board = s->first_board + quotient(place, s->all_in_tiles);
    const int opponents = hands_on(s->opponent_start, board), hands = hands_on(s->player_start, board);
    const Terminal *terminals = s->terminals + LANES * tile;
    const float *rows = s->reach + (Long)s->opponent_start[board] * s->reach_rows;
    const float *equity = s->equity + s->equity_start[board], *row[LANES];
    EACH_TERMINAL
        row[lane] = rows + (Long)(terminals[lane].called > 0 ? terminals[lane].called : 0) * opponents;
    float *net = s->net + ((Long)s->player_start[board] * s->tiles + (Long)tile * hands) * LANES;
    Four *parts = (Four *)memory; // [slice][hand of the piece]
    const int first = piece * s->piece, left = hands - first;
    const int width = left < s->piece ? left : s->piece;
    for (int task = THREAD; task < SLICES * width; task += THREADS) {
        const int slice = task / width, hand = first + task % width;
        const int upto = opponents * (slice + 1) / SLICES;
        Four total = {};
#pragma unroll 8
        for (int other = opponents * slice / SLICES; other < upto; other++) {
            const float share = equity[(Long)other * hands + hand];
            EACH_TERMINAL total.lane[lane] += share * row[lane][other];
        }
        parts[task] = total;
    }
    SYNC();
    for (int each = THREAD; each < width; each += THREADS) {
        Four total = {};
        for (int slice = 0; slice < SLICES; slice++) total = total + parts[slice * width + each];
        EACH_TERMINAL net[lane * hands + first + each] = total.lane[lane];
    }
}

// ---- the backward pass

SMALL_KERNEL(128, 8) backward(const Exact *ONLY s) {
    const int piece = modulo(BLOCK, s->pieces), row = quotient(BLOCK, s->pieces);
    const int line = modulo(row, s->lines), board = s->first_board + quotient(row, s->lines);
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
    const Numbers numbers = {first * s->player_actions, hands};
    float *rows = s->values + (Long)first * s->value_rows;
    const Weights weights = weights_at(s, board, line);
    EACH_HAND_OF_PIECE(hand, piece, hands) {
        const float wobble = dither(weights.phase, hand);
        sum_leaves(s, line, rows, hands, hand);
        for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
            const Node node = s->nodes[n];
            if (!node.is_player) continue;
            const Long at = number_at(numbers, node, hand);
            const bool locked = is_locked(s, first, node, hands, hand);
            const float *values = rows + (Long)node.child * hands + hand;
            put_value(node, rows, hands, hand,
                      decide(s->mode, s->player_regrets + at, s->player_average + at, values, hands,
                             weights, wobble, locked, node.actions));
        }
        s->line_values[(Long)first * s->lines + (Long)line * hands + hand] =
            rows[(Long)s->line_value[line] * hands + hand];
    }
}

// The same where hands of a board are in buckets.
SMALL_KERNEL(256, 3) backward_buckets(const Exact *ONLY s) {
    backward_line(s);
    const int line = modulo(BLOCK, s->lines), board = s->first_board + quotient(BLOCK, s->lines);
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
    const float *row =
        s->values + (Long)first * s->value_rows + (Long)s->line_value[line] * hands;
    float *value = s->line_values + (Long)first * s->lines + (Long)line * hands;
    for (int hand = THREAD; hand < hands; hand += THREADS) value[hand] = row[hand];
}

// Positive regrets of a board, padding left out.
KERNEL sum_regrets(const Exact *ONLY s) {
    const int board = BLOCK, rows = s->player_live[board];
    const Numbers numbers = player_numbers(s, board, 0);
    PositiveRegrets found = {};
    for (int n = 0; n < s->line_nodes[s->lines]; n++) {
        const Node node = s->nodes[n];
        if (!node.is_player || node.locked) continue;
        for (int row = THREAD; row < rows; row += THREADS) {
            const Regret *regrets = s->player_regrets + number_at(numbers, node, row);
            for (int a = 0; a < node.actions; a++) note(found, widen(regrets[16 * a]));
        }
    }
    add_up(found, s->regret_sums + 2 * board);
}
