// What exact subgames and real boards share: stored numbers, the decision of one hand, and the passes
// of a street in which every hand is a column of its own.
//
//     forward    the opponent's reach at all nodes below a line
//     gather     the values of the boards below a board, summed at its leaves
//     backward   the player's values at all nodes below a line
//
// `exact.kernels.layout` says what rows, lines and leaves are, `streets` lays them out.

#include "common.cuh"

#define CARDS 53    // the last one is held by padding
#define LANES 4     // terminals that a block works on side by side
#define SEGMENTS 32 // parts in which the opponent's hands are summed side by side
#define EACH_TERMINAL UNROLL for (int lane = 0; lane < LANES; lane++)

// ---- stored numbers: float32, or halves for regrets and fractions of 32767 for averages

#ifdef HALVES
typedef Short Regret;
typedef short Fraction;
#define STEPS 32767.0f
DEVICE float widen(Regret bits) {
    float number;
#ifdef __CUDACC__
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
#else
    _Float16 half;
    memcpy(&half, &bits, 2);
    number = (float)half;
#endif
    return number;
}
DEVICE void narrow(Regret *place, float number) {
#ifdef __CUDACC__
    Short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    *place = bits;
#else
    _Float16 half = (_Float16)number;
    memcpy(place, &half, 2);
#endif
}
DEVICE float widen(Fraction number) { return (float)number; }
DEVICE void quantise(Fraction *place, float number, float wobble) {
    *place = (Fraction)rintf(number + wobble);
}
#else
typedef float Regret;
typedef float Fraction;
#define STEPS 1.0f
DEVICE float widen(float number) { return number; }
DEVICE void narrow(float *place, float number) { *place = number; }
DEVICE void quantise(float *place, float number, float wobble) { *place = number; }
#endif

// ---- a decision of one hand; A actions, or `actions` of them where A is 0

struct Weights { // of an iteration: `simd.iteration_weights.KernelWeights`
    float positive, negative, floor, average, weight, threshold, ahead, phase;
};

struct Shares {
    float factor, even; // max(number, 0) · factor + even
};

DEVICE Shares shares(float total, float whole, int actions) {
    Shares found;
    found.factor = total > TINY ? whole / total : 0.0f;
    found.even = total > TINY ? 0.0f : whole / actions;
    return found;
}

// What is added to a fraction before it is rounded: `engines.simd.quantise`.
DEVICE float dither(float phase, int hand) {
#ifdef HALVES
    float place = (float)(hand & 15) * 0.6180339887f;
    place = place - floorf(place) + phase;
    return ((place > 1.0f ? place - 1.0f : place) - 0.5f) * 0.992f;
#else
    return 0.0f;
#endif
}

// The opponent's reach at a decision, shared out among its actions: rows [.., stride]. A `tremble` of
// it takes every action, whatever the strategy.
template <int A, typename Stored>
DEVICE void split_reach(const Stored *stored, float *rows, Long stride, int row, int child, int hand,
                        float tremble, int run_time) {
    const int actions = A ? A : run_time;
    float numbers[A ? A : MOST_ACTIONS], total = 0.0f;
    UNROLL for (int a = 0; a < actions; a++) {
        numbers[a] = above(widen(stored[16 * a]));
        total += numbers[a];
    }
    const float whole = rows[row * stride + hand];
    Shares found = shares(total, whole, actions);
    if (tremble > 0.0f) {
        const float rest = 1.0f - actions * tremble;
        found.factor *= rest;
        found.even = found.even * rest + whole * tremble;
    }
    UNROLL for (int a = 0; a < actions; a++)
        rows[(child + a) * stride + hand] = numbers[a] * found.factor + found.even;
}

// The value of a decision whose actions are worth values[a · stride]; regrets and average move.
template <int A>
DEVICE float learn(Regret *regrets, Fraction *average, const float *values, Long stride,
                   const Weights &weights, float wobble, int run_time) {
    const int actions = A ? A : run_time;
    float stored[A ? A : MOST_ACTIONS], worth[A ? A : MOST_ACTIONS], total = 0.0f;
    UNROLL for (int a = 0; a < actions; a++) {
        stored[a] = widen(regrets[16 * a]);
        worth[a] = values[a * stride];
        total += above(stored[a]);
    }
    const Shares played = shares(total, 1.0f, actions);
    float value = 0.0f, follow = 0.0f, gains = 0.0f;
    UNROLL for (int a = 0; a < actions; a++)
        value += (above(stored[a]) * played.factor + played.even) * worth[a];
    UNROLL for (int a = 0; a < actions; a++) {
        const float old = stored[a], gain = worth[a] - value;
        const float next = old * (old > 0.0f ? weights.positive : weights.negative) + gain;
        const float updated = next > weights.floor ? next : weights.floor;
        narrow(regrets + 16 * a, updated);
        follow += above(updated);
        gains += above(updated) * gain;
        if (weights.weight > 0.0f) {
            const float chance = (above(old) * played.factor + played.even) * STEPS;
            const float mean = widen(average[16 * a]);
            quantise(average + 16 * a, mean + weights.weight * (chance - mean), wobble);
        }
    }
    return value + (follow > TINY ? gains * (weights.ahead / follow) : 0.0f);
}

// The value of a decision under its average strategy.
DEVICE float play(const Fraction *average, const float *values, Long stride, int actions) {
    float total = 0.0f, value = 0.0f;
    for (int a = 0; a < actions; a++)
        total += above(widen(average[16 * a]));
    const Shares found = shares(total, 1.0f, actions);
    for (int a = 0; a < actions; a++)
        value += (above(widen(average[16 * a])) * found.factor + found.even) * values[a * stride];
    return value;
}

// The value of a decision by its best action.
DEVICE float best(const float *values, Long stride, int actions) {
    float value = values[0];
    for (int a = 1; a < actions; a++)
        value = values[a * stride] > value ? values[a * stride] : value;
    return value;
}


// The value of a player's decision in a pass of some mode. Where it is `locked` there is nothing to
// learn, and a best response has no choice: its average is what is played.
DEVICE float decide(int mode, Regret *regrets, Fraction *average, const float *values, Long stride,
                    const Weights &weights, float wobble, bool locked, int actions) {
    const int here = locked ? EVALUATE : mode;
    if (here == UPDATE)
        return by_actions<4>(actions, [&](auto known) {
            return learn<known.count>(regrets, average, values, stride, weights, wobble, actions);
        });
    if (here == BEST_RESPONSE) return best(values, stride, actions);
    return play(average, values, stride, actions);
}

// ---- streets

struct alignas(16) Node { // `streets.NODE`
    Byte is_player, adds;
    Byte locked, unused; // locked: all hands play their average, whatever their regrets
    int actions, reach, child, value, slot;
    int number; // among the player's nodes, or on a river the place of its numbers in a block
    int spare;
};
struct Below {
    int start, hands, hand; // of the player's hand on a board below
    float weight;
};

struct Street { // of one player; `exact.cu` and `boards.cu` add to it
    Long mode, player;
    const Weights *weights; // [iteration][player], and with real boards [F][P]
    int *clock;             // [1]: the iteration
    // Betting, the same on every board; rows count from 0.
    const Node *nodes; // parents first
    Long lines;
    const int *line_nodes, *line_zeros, *line_sums; // [lines + 1]
    const int *line_reach, *line_value;             // [lines]: rows
    Long tiles;                                     // of LANES terminals
    const int *zeros;                               // rows of values that are only added to
    Long leaves;                                    // lines of the street below
    const int *leaf_value;                          // [leaves]: rows
    const int *leaf_sums;                           // pairs of rows: what is added to what
    Long reach_rows, value_rows;
    // Boards and hands.
    Long first_board;
    Long pieces, piece;                       // of a board's hands, each a block's; hands of a piece
    const int *player_start, *opponent_start; // [B + 1]: hands
    const int *combo_start;
    const Short *card_start; // [B][54]
    const Short *card_hand;  // two for each combo
    // Buckets of hands that play alike: what is stored, and which hand is where.
    const int *player_rows, *opponent_rows;       // [B + 1]: hands, or buckets, that are stored
    const int *player_live;                       // [B]: of player_rows those without padding
    const Short *player_bucket, *opponent_bucket; // by hand; 0: every hand its own
    const int *member_first;                      // by bucket of the player's: its hands
    const Short *members;
    const float *member_share;
    // The street above, and that below.
    const int *parent;        // [B]
    const Short *parent_hand; // by the opponent's hand: on the board above, or its class on the flop
    const int *above_start;   // the opponent's hands there; 0: nothing is above
    Long above_rows;
    const int *above_row; // [lines]
    const float *above_reach;
    const int *below_start; // by the player's hand: its hands below
    const Below *below;
    Long below_rows;
    const float *below_values;
    // Stored numbers, and rows.
    Regret *player_regrets;
    Fraction *player_average;
    const Regret *opponent_regrets;
    const Fraction *opponent_average;
    Long player_nodes;
    const float *player_locked; // [node][hand] board by board: 1 where a hand is; 0: none is
    float *reach, *values;
    double *regret_sums; // pairs: of positive ones, and the largest
};

// Whether the strategy of a player's hand is locked at a node; his hands on the board begin at `first`.
DEVICE bool is_locked(const Street *ONLY s, int first, const Node &node, int hands, int hand) {
    const Long place = (Long)first * s->player_nodes + (Long)node.number * hands + hand;
    return node.locked || (s->player_locked && s->player_locked[place] > 0.0f);
}

struct Numbers { // of a player on a board: where they begin, and how many hands or buckets store them
    Long start;
    int count;
};

// Where the number of a node's first action stands.
DEVICE Long number_at(const Numbers &numbers, const Node &node, int row) {
    return numbers.start + (Long)node.slot * numbers.count + row / 16 * 16 * node.actions + row % 16;
}

// The hands of a board that a block takes, from a piece's first to before its last.
#define EACH_HAND_OF_PIECE(hand, piece, hands) \
    for (int hand = (piece) * s->piece + THREAD, \
             last_hand = ((piece) + 1) * s->piece < (hands) ? ((piece) + 1) * s->piece : (hands); \
         hand < last_hand; hand += THREADS)

// The opponent's reach of a hand at a line: it comes from the board above.
DEVICE float reach_above(const Street *ONLY s, int board, int line, int hand) {
    const int above_board = s->parent[board], first = s->above_start[above_board];
    const int hands = s->above_start[above_board + 1] - first;
    if (hand >= hands) return 0.0f;
    return s->above_reach[(Long)first * s->above_rows + (Long)s->above_row[line] * hands + hand];
}

// The opponent's decision in a pass that learns, by his regrets and trembles, or else by his average
// strategy.
DEVICE void share_reach(bool learns, const Regret *regrets, const Fraction *average, const Node &node,
                        float *rows, Long stride, int hand, float tremble) {
    by_actions<4>(node.actions, [&](auto known) {
        if (learns)
            split_reach<known.count>(regrets, rows, stride, node.reach, node.child, hand, tremble,
                                     node.actions);
        else
            split_reach<known.count>(average, rows, stride, node.reach, node.child, hand, 0.0f,
                                     node.actions);
    });
}

// A block takes a line of a board, and a piece of its hands. IN_BUCKETS: some hands may share numbers.
template <bool IN_BUCKETS, typename S> DEVICE void forward_line(const S *ONLY s) {
    const int piece = modulo(BLOCK, s->pieces), row = quotient(BLOCK, s->pieces);
    const int line = modulo(row, s->lines), board = s->first_board + quotient(row, s->lines);
    if (!line_visited(s, board, line)) return;
    const int hands = hands_on(s->opponent_start, board);
    const Numbers numbers = opponent_numbers(s, board, line, IN_BUCKETS);
    float *rows = s->reach + (Long)s->opponent_start[board] * s->reach_rows;
    EACH_HAND_OF_PIECE(hand, piece, hands) {
        rows[(Long)s->line_reach[line] * hands + hand] = reach_in(s, board, line, hand);
        const bool shares = IN_BUCKETS && s->opponent_bucket;
        const int row = shares ? s->opponent_bucket[s->opponent_start[board] + hand] : hand;
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.is_player) continue;
            const Long at = number_at(numbers, node, row);
            share_reach(s->mode == UPDATE, s->opponent_regrets + at, s->opponent_average + at, node,
                        rows, hands, hand, tremble_of(s));
        }
    }
}

// A block takes a leaf of a board, and a piece of its hands.
template <typename S> DEVICE void gather_leaf(const S *ONLY s) {
    const int piece = modulo(BLOCK, s->pieces), place = quotient(BLOCK, s->pieces);
    const int leaf = modulo(place, s->leaves), board = s->first_board + quotient(place, s->leaves);
    if (!leaf_visited(s, board, leaf)) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
    const int from = row_below(s, leaf);
    float *row = s->values + (Long)first * s->value_rows + (Long)s->leaf_value[leaf] * hands;
    EACH_HAND_OF_PIECE(hand, piece, hands) {
        float total = 0.0f;
        const int last = s->below_start[first + hand + 1];
#pragma unroll 4
        for (int place = s->below_start[first + hand]; place < last; place++) {
            const Below below = s->below[place];
            const Long at = (Long)below.start * s->below_rows + (Long)from * below.hands;
            total += below.weight * s->below_values[at + below.hand];
        }
        row[hand] = total;
    }
}

// The rows of a hand before the decisions of a line: zeros, and the sums of leaves.
DEVICE void sum_leaves(const Street *ONLY s, int line, float *rows, int hands, int hand) {
    for (int z = s->line_zeros[line]; z < s->line_zeros[line + 1]; z++)
        rows[(Long)s->zeros[z] * hands + hand] = 0.0f;
    for (int pair = s->line_sums[line]; pair < s->line_sums[line + 1]; pair++) {
        const int leaf = s->leaf_sums[2 * pair], target = s->leaf_sums[2 * pair + 1];
        rows[(Long)target * hands + hand] += rows[(Long)leaf * hands + hand];
    }
}

// The value of a decision in its row; what shares the row is added to.
DEVICE void put_value(const Node &node, float *rows, Long stride, int hand, float value) {
    float *target = rows + node.value * stride + hand;
    *target = node.adds ? *target + value : value;
}

// What a bucket learns; chances [action][bucket] say how its hands play: as they
// did, moved by `ahead` towards what the new regrets will play.
template <int A>
DEVICE void learn_bucket(const Street *ONLY s, Regret *regrets, Fraction *average,
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
    learn<A>(regrets, average, worth, 1, weights, wobble, actions);
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

// A block takes a line of a board: the player's values from its leaves to the line itself. Hands of a bucket
// learn together; chances [action][bucket] are in shared memory.
template <typename S> DEVICE void backward_line(const S *ONLY s) {
    SHARED(chances);
    const int line = modulo(BLOCK, s->lines), board = s->first_board + quotient(BLOCK, s->lines);
    if (!line_visited(s, board, line)) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board);
    const Numbers numbers = player_numbers(s, board, line);
    const int first_bucket = s->player_rows[board], count = numbers.count;
    const Weights weights = weights_at(s, board, line);
    const bool learns_by_bucket = s->player_bucket && s->mode == UPDATE;
    float *rows = s->values + (Long)first * s->value_rows;
    for (int hand = THREAD; hand < hands; hand += THREADS) sum_leaves(s, line, rows, hands, hand);
    for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
        const Node node = s->nodes[n];
        if (!node.is_player) continue;
        const float *values = rows + (Long)node.child * hands;
        if (learns_by_bucket && !node.locked) {
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
            for (int hand = THREAD; hand < hands; hand += THREADS) {
                const int row = s->player_bucket[first + hand];
                float value = 0.0f;
                for (int a = 0; a < node.actions; a++)
                    value += chances[a * count + row] * values[(Long)a * hands + hand];
                put_value(node, rows, hands, hand, value);
            }
            continue;
        }
        for (int hand = THREAD; hand < hands; hand += THREADS) {
            const int row = s->player_bucket ? s->player_bucket[first + hand] : hand;
            const Long at = number_at(numbers, node, row);
            put_value(node, rows, hands, hand,
                      decide(s->mode, s->player_regrets + at, s->player_average + at, values + hand,
                             hands, weights, dither(weights.phase, hand),
                             is_locked(s, first, node, hands, hand), node.actions));
        }
    }
}

// The next iteration reads the next weights.
KERNEL tick(const Street *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->clock[0]++;
}
