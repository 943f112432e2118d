// One half-iteration of games with real boards: all pots on all flops of an engine that go by the
// same pair of ranges. `kernels.group_layout` and `kernels.exact_layout` say what groups, rows and
// lines are; `subgames.cuda_boards_layout` lays them out for these kernels.
//
//     descend   the other's reach at all nodes of a flop or turn
//     folds     what folds there are worth
//     deal      reach on the river boards below a turn: hands into groups
//     play_lines  some lines of a river board, all of it in shared memory: down, products, up
//     collect   the values of the river boards below a turn, summed at its leaves
//     ascend    values and regrets of all nodes of a flop or turn
//     gather    the values of the turns below a flop, summed at its leaves
//     total     values of the root, by class
//
// Reach and values of the lines of a river board stand in one place, one after the other.
// GROUPS are those of a player's hands on every river board. A block of `play_lines` has PLAYERS
// threads, each of which works on TALL rows of a product and four columns; TABLES such blocks find
// room on a multiprocessor.

#define UPDATE 0
#define BEST_RESPONSE 1
#define CARDS 53      // the last one is held by padding
#define CLASSES 169
#define LANES 4       // folds that a block works on side by side
#define SEGMENTS 32   // parts in which the other's hands are summed side by side
#define WIDE 16       // lines that are dealt and collected together
#define LINE (GROUPS + 4) // rows of a river board stand apart: those of a product are in other banks
#define QUARTERS (GROUPS / 4)
#define ROUNDS 3      // products of one round go to different rows

#ifdef __CUDACC__
#define PHASE static __device__ __noinline__ void // what it needs is not kept in others' registers
#else
#define PHASE static void
#endif

struct Node {
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
struct Piece { // of a river board: some lines; its nodes, and its rows from 0
    int first_line, lines, reach_rows, value_rows, nodes, node_count, products, groups;
    int other_stage, own_stage; // actions of its nodes: room for stored numbers
    int runs, run_count;
};
struct Run { // nodes of a pot in a piece whose numbers stand one after the other
    int own, pot, slot, actions, stage;
    int unused[3];
};
struct Term {
    int reach, value; // value −1: fills up a group of TALL
    float factor;
    int round;
};

#define EACH_LANE _Pragma("unroll") for (int i = 0; i < 4; i++)

DEVICE Four four(const float *place) { return *(const Four *)place; }
DEVICE void put(float *place, Four numbers) { *(Four *)place = numbers; }
DEVICE Four all(float number) { return {{number, number, number, number}}; }

DEVICE int hands_on(const Boards *ONLY s, int board) { return s->start[board + 1] - s->start[board]; }

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
    const int first = s->start[board], hands = hands_on(s, board);
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
    const int first = s->start[board], hands = hands_on(s, board);
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
    const int first = s->start[board], hands = hands_on(s, board);
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
    const int first = s->start[board], hands = hands_on(s, board), from = s->below_row[leaf];
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
    const int first = s->start[flop], hands = hands_on(s, flop);
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

// ---- between turn and river

DEVICE bool lanes_visited(const Boards *ONLY s, int flop, int lanes) {
    bool some = false;
    for (int lane = 0; lane < WIDE && WIDE * lanes + lane < s->leaves; lane++)
        some |= visited(s, flop, s->leaf_pot[WIDE * lanes + lane]);
    return some;
}

// Every group of a river board gets the sum over its combos' reach on the turn.
KERNEL deal(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = BLOCK % s->lane_groups, board = s->first_board + BLOCK / s->lane_groups;
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->start[board], hands = hands_on(s, board), lines = s->leaves;
    const float *rows = s->reach + (Long)first * s->reach_rows;
    for (int task = THREAD; task < hands * (WIDE / 4); task += THREADS) {
        const int hand = task % hands, quad = task / hands;
        Four here;
        EACH_LANE {
            const int line = WIDE * lanes + 4 * quad + i;
            here.lane[i] = line < lines ? rows[(Long)s->leaf_reach[line] * hands + hand] : 0.0f;
        }
        put(memory + WIDE * hand + 4 * quad, here);
    }
    SYNC();
    const int river = s->children[board], tasks = (s->children[board + 1] - river) * QUARTERS * WIDE;
    for (int task = THREAD; task < tasks; task += THREADS) {
        const int quad = task % (WIDE / 4), group = task / (WIDE / 4) % GROUPS;
        const int below = river + task / (WIDE / 4) / GROUPS, line = WIDE * lanes + 4 * quad;
        if (line >= lines) continue;
        const Short *bounds = s->other_first + (Long)below * (GROUPS + 1) + group;
        const Short *parent = s->other_parent + s->other_combos[below];
        const int last = bounds[1];
        Four sum = all(0.0f);
#pragma unroll 4
        for (int combo = bounds[0]; combo < last; combo++)
            sum = sum + four(memory + WIDE * parent[combo] + 4 * quad);
        float *to = s->line_rows + ((Long)below * lines + line) * GROUPS + group;
        EACH_LANE if (line + i < lines) to[i * GROUPS] = sum.lane[i];
    }
}

// The leaves of a turn: a hand gets the values of its groups on the rivers, by their chances.
KERNEL collect(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = BLOCK % s->lane_groups, board = s->first_board + BLOCK / s->lane_groups;
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->start[board], hands = hands_on(s, board), lines = s->leaves;
    float *rows = s->values + (Long)first * s->value_rows;
    const int last = s->children[board + 1], parts = s->parts;
    for (int part = 0; part < parts; part++) {
        const int river = s->children[board] + part * s->part;
        const int left = last - river, count = left < s->part ? left : s->part;
        if (count <= 0) break;
        for (int task = THREAD; task < count * GROUPS * WIDE; task += THREADS) {
            const int lane = task % WIDE, group = task / WIDE % GROUPS;
            const Long below = river + task / WIDE / GROUPS;
            const int line = WIDE * lanes + lane;
            memory[task] =
                line < lines
                    ? s->chance[below] * s->line_rows[(below * lines + line) * GROUPS + group]
                    : 0.0f;
        }
        SYNC();
        for (int task = THREAD; task < hands * (WIDE / 4); task += THREADS) {
            const int quad = task % (WIDE / 4), hand = task / (WIDE / 4);
            const int line = WIDE * lanes + 4 * quad;
            if (line >= lines) continue;
            Four sum = all(0.0f);
            if (part > 0)
                EACH_LANE if (line + i < lines) sum.lane[i] =
                    rows[(Long)s->leaf_value[line + i] * hands + hand];
            const int *bounds = s->entry_start + (Long)(first + hand) * parts + part;
            const int end = bounds[1];
#pragma unroll 4
            for (int each = bounds[0]; each < end; each++) {
                const int entry = s->entries[each]; // river of the part, and group
                sum = sum + four(memory + (entry / 256 * GROUPS + entry % 256) * WIDE + 4 * quad);
            }
            if (left <= s->part) {
                const float share = s->share[first + hand];
                EACH_LANE sum.lane[i] *= share;
            }
            EACH_LANE if (line + i < lines)
                rows[(Long)s->leaf_value[line + i] * hands + hand] = sum.lane[i];
        }
        SYNC();
    }
}

// ---- river

// Copies of sixteen bytes that go on while a block computes.
DEVICE void copy_soon(void *to, const void *from) {
#ifdef __CUDACC__
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
#else
    memcpy(to, from, 16);
#endif
}
#ifdef __CUDACC__
#define COPIES_END() asm volatile("cp.async.commit_group;" ::: "memory")
#define ALL_BUT_LAST_COPIED() asm volatile("cp.async.wait_group 1;" ::: "memory")
#define ALL_COPIED() asm volatile("cp.async.wait_group 0;" ::: "memory")
#else
#define COPIES_END()
#define ALL_BUT_LAST_COPIED()
#define ALL_COPIED()
#endif

struct Pot { // on the board of a block
    Long own, other; // where the numbers of its nodes begin
    Discounts now;
    int visited, averages; // whether own averages are read
};

// What a block of `play_lines` has in shared memory, and what it works on.
struct Room {
    Pot *pots;
    float *margin, *pairs, *rows, *values;
    Short *other, *regrets, *average; // stored numbers, as wide as regrets
};

DEVICE const Piece &piece_here(const Boards *ONLY s) { return s->river_pieces[BLOCK % s->piece_count]; }
DEVICE int river_here(const Boards *ONLY s) { return s->first_board + BLOCK / s->piece_count; }

DEVICE Room room_of(const Boards *ONLY s, float *memory, const Piece &piece) {
    Room room;
    room.pots = (Pot *)memory;
    room.margin = (float *)(room.pots + s->pots);
    room.pairs = room.margin + GROUPS * GROUPS;
    room.rows = room.pairs + GROUPS * GROUPS;
    room.values = room.rows + piece.reach_rows * LINE;
    room.other = (Short *)(room.values + piece.value_rows * LINE);
    room.regrets = room.other + piece.other_stage * GROUPS;
    room.average = room.regrets + piece.own_stage * GROUPS;
    return room;
}

// A board's matrix, by the other's group and then by own.
DEVICE void widen_matrix(const signed char *stored, float one, bool turned, float *matrix) {
    for (int task = THREAD; task < GROUPS * QUARTERS; task += THREADS) {
        const int row = turned ? task % GROUPS : task / QUARTERS;
        const int column = 4 * (turned ? task / GROUPS : task % QUARTERS);
        const int bytes = *(const int *)(stored + row * GROUPS + column);
        Four numbers;
        EACH_LANE numbers.lane[i] = one * (signed char)(bytes >> 8 * i);
        if (turned)
            EACH_LANE matrix[(column + i) * GROUPS + row] = numbers.lane[i];
        else
            put(matrix + row * GROUPS + column, numbers);
    }
}

#define OTHERS_NUMBERS 0
#define OWN_REGRETS 1
#define OWN_AVERAGE 2

// Stored numbers of a piece into shared memory, or back from there.
DEVICE void move_numbers(const Boards *ONLY s, const Piece &piece, const Pot *pots, int which,
                         bool back, Short *stage) {
    const int own = which != OTHERS_NUMBERS;
    Short *stored;
    if (which == OTHERS_NUMBERS)
        stored = (Short *)(s->mode == UPDATE ? (const void *)s->other_regrets
                                             : (const void *)s->other_average);
    else
        stored = which == OWN_REGRETS ? (Short *)s->own_regrets : (Short *)s->own_average;
    for (int r = 0; r < piece.run_count; r++) {
        const Run run = s->runs[piece.runs + r];
        const Pot &pot = pots[run.pot];
        if (run.own != own || !pot.visited || (which == OWN_AVERAGE && !pot.averages)) continue;
        Short *there = stored + (own ? pot.own : pot.other) + (Long)run.slot * GROUPS;
        Short *here = stage + run.stage * GROUPS;
        for (int each = 8 * THREAD; each < run.actions * GROUPS; each += 8 * THREADS) {
            if (back)
                put((float *)(there + each), four((const float *)(here + each)));
            else
                copy_soon(here + each, there + each);
        }
    }
}

// First phase: what the pots of the flop are asked for.
PHASE meet_pots(const Boards *ONLY s) {
    SHARED(memory);
    const int board = river_here(s), flop = s->flop_of[board];
    const bool learns = s->mode == UPDATE;
    for (int pot = THREAD; pot < s->pots; pot += THREADS) {
        Pot found;
        found.own = stored_from(s, s->own_rows, s->own_actions, board, pot);
        found.other = stored_from(s, s->other_rows, s->other_actions, board, pot);
        found.now = now_of(s, flop, pot);
        found.visited = visited(s, flop, pot);
        found.averages = learns ? found.now.average > 0.0f : s->mode != BEST_RESPONSE;
        ((Pot *)memory)[pot] = found;
    }
    SYNC();
}

// Stored numbers are on their way; matrices and the reach of lines are there, values are 0.
PHASE take_seats(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    move_numbers(s, piece, room.pots, OTHERS_NUMBERS, false, room.other);
    COPIES_END();
    if (s->mode == UPDATE) move_numbers(s, piece, room.pots, OWN_REGRETS, false, room.regrets);
    move_numbers(s, piece, room.pots, OWN_AVERAGE, false, room.average);
    COPIES_END();
    const bool is_oop = s->player == 0;
    const Long board = river_here(s), matrix = board * GROUPS * GROUPS;
    widen_matrix(s->margin + matrix, (is_oop ? 1.0f : -1.0f) / 127.0f, is_oop, room.margin);
    widen_matrix(s->pairs + matrix, 1.0f / 127.0f, is_oop, room.pairs);
    const float *lines = s->line_rows + (board * s->lines + piece.first_line) * GROUPS;
    for (int task = THREAD; task < piece.lines * QUARTERS; task += THREADS) {
        const int line = task / QUARTERS, group = task % QUARTERS * 4;
        const int row = s->line_reach[piece.first_line + line];
        put(room.rows + row * LINE + group, four(lines + line * GROUPS + group));
    }
    for (int each = 4 * THREAD; each < piece.value_rows * LINE; each += 4 * THREADS)
        put(room.values + each, all(0.0f));
    ALL_BUT_LAST_COPIED();
    SYNC();
}

// Reach, from lines to ends: a group on a line is a column of its own, and so it is on the way up.
PHASE go_down(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const bool learns = s->mode == UPDATE;
    for (int task = THREAD; task < piece.lines * GROUPS; task += THREADS) {
        const int line = piece.first_line + task / GROUPS, group = task % GROUPS;
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.own) continue;
            const Short *stored =
                room.other + node.stage * GROUPS + group / 16 * 16 * node.actions + group % 16;
            if (learns)
                split((const Regret *)stored, room.rows, LINE, node.reach, node.child, group,
                      node.actions);
            else
                split((const Fraction *)stored, room.rows, LINE, node.reach, node.child, group,
                      node.actions);
        }
    }
    SYNC();
}

// Folds and showdowns: rows times the matrices of the board, a round of writing after the other.
DEVICE void add_products(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const Term *terms = s->products + piece.products;
    const int tasks = piece.groups * QUARTERS;
    for (int begin = 0; begin < tasks; begin += THREADS) {
        const int task = begin + THREAD, column = task % QUARTERS * 4;
        const bool mine = task < tasks;
        const Term *here = terms + (mine ? task / QUARTERS : 0) * TALL;
        const int round = here[0].round;
        Four sums[TALL];
        if (mine) {
            const float *matrix = (round ? room.pairs : room.margin) + column;
            int row[TALL];
#pragma unroll
            for (int r = 0; r < TALL; r++) {
                row[r] = here[r].reach * LINE;
                sums[r] = all(0.0f);
            }
#pragma unroll 2
            for (int k = 0; k < GROUPS; k += 4) {
                Four share[4];
#pragma unroll
                for (int j = 0; j < 4; j++) share[j] = four(matrix + (k + j) * GROUPS);
#pragma unroll
                for (int r = 0; r < TALL; r++) {
                    const Four reach = four(room.rows + row[r] + k);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        EACH_LANE sums[r].lane[i] += reach.lane[j] * share[j].lane[i];
                }
            }
        }
        for (int now = 0; now < ROUNDS; now++) {
            if (mine && round == now) {
#pragma unroll
                for (int r = 0; r < TALL; r++) {
                    const Term term = here[r];
                    if (term.value < 0) continue;
                    float *place = room.values + term.value * LINE + column;
                    Four value = four(place);
                    EACH_LANE value.lane[i] += term.factor * sums[r].lane[i];
                    put(place, value);
                }
            }
            SYNC();
        }
    }
}

// Values, from ends to lines, and what is learned.
PHASE go_up(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    const int mode = s->mode;
    ALL_COPIED();
    SYNC();
    for (int task = THREAD; task < piece.lines * GROUPS; task += THREADS) {
        const int line = piece.first_line + task / GROUPS, group = task % GROUPS;
        const Pot &pot = room.pots[s->line_pot[line]];
        if (!pot.visited) continue;
        const Discounts now = pot.now;
        const float wobble = wobble_of(now.phase, group);
        for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
            const Node node = s->nodes[n];
            if (!node.own) continue;
            const int base = node.stage * GROUPS + group / 16 * 16 * node.actions + group % 16;
            Regret *regrets = (Regret *)(room.regrets + base);
            Fraction *average = (Fraction *)(room.average + base);
            const float *values = room.values + node.child * LINE + group;
            float value;
            if (mode == UPDATE)
                value = learn(regrets, average, values, LINE, now, wobble, false, node.actions);
            else if (mode == BEST_RESPONSE)
                value = best(values, LINE, node.actions);
            else
                value = play(average, values, LINE, node.actions);
            float *target = room.values + node.value * LINE + group;
            *target = node.adds ? *target + value : value;
        }
    }
    SYNC();
}

// Last phase: the lines' values and what was learned go back to memory.
PHASE leave_seats(const Boards *ONLY s) {
    SHARED(memory);
    const Piece &piece = piece_here(s);
    const Room room = room_of(s, memory, piece);
    float *lines = s->line_rows + ((Long)river_here(s) * s->lines + piece.first_line) * GROUPS;
    for (int task = THREAD; task < piece.lines * QUARTERS; task += THREADS) {
        const int line = task / QUARTERS, group = task % QUARTERS * 4;
        const int row = s->line_value[piece.first_line + line];
        put(lines + line * GROUPS + group, four(room.values + row * LINE + group));
    }
    if (s->mode != UPDATE) return;
    move_numbers(s, piece, room.pots, OWN_REGRETS, true, room.regrets);
    move_numbers(s, piece, room.pots, OWN_AVERAGE, true, room.average);
}

SMALL_KERNEL(PLAYERS, TABLES) play_lines(const Boards *ONLY s) {
    SHARED(memory);
    meet_pots(s);
    bool some = false;
    for (int pot = 0; pot < s->pots; pot++) some |= ((const Pot *)memory)[pot].visited;
    if (!some) return;
    take_seats(s);
    go_down(s);
    add_products(s);
    go_up(s);
    leave_seats(s);
}

// The next iteration reads the next row of discounts.
KERNEL tick(const Boards *ONLY s) {
    if (BLOCK == 0 && THREAD == 0) s->clock[0]++;
}
