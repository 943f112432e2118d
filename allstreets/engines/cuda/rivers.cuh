// From turn to river and back: hands into buckets, lines of rivers, and values of buckets to hands.

// ---- between turn and river
//
// A block takes WIDE lines of a turn board. Its numbers stand in shared memory by hand, or by river
// board and bucket, WIDE lines side by side: eight neighbouring threads read the same 128 bytes. Lists
// are filled up to fours with a place that holds zeros, and read four at a time.
//
// An iteration reads every number of a line and hand as often as it has combos and river boards: for
// 16 bytes of shared memory two bytes of the lists, a quarter of a load.

struct alignas(8) Places {
    Short at[4];
};

// Where four lines of a hand, or of a bucket, stand; neighbours are in different banks.
DEVICE float *lines_at(float *memory, int place, int quad) {
    return memory + WIDE * place + 4 * (quad ^ place % (WIDE / 4));
}

// The share of a thread in some places of WIDE lines, four lines at a time: one division for all of it.
struct Quads {
    int places, place, quad;

    METHOD explicit Quads(int count)
        : places(count), place(THREAD % count), quad(THREAD / count) {}
    METHOD bool left() const { return quad < WIDE / 4; }
    METHOD void next() {
        for (place += THREADS; place >= places; place -= places) quad++;
    }
};

DEVICE bool lanes_visited(const Boards *ONLY s, int flop, int lanes) {
    bool some = false;
    for (int lane = 0; lane < WIDE && WIDE * lanes + lane < s->leaves; lane++)
        some |= visited(s, flop, s->leaf_pot[WIDE * lanes + lane]);
    return some;
}

// The sum over a list of places, from a four to another.
DEVICE Four sum_places(float *memory, const Places *list, int from, int upto, int quad, Four sum) {
#pragma unroll 2
    for (int each = from; each < upto; each++) {
        const Places places = list[each];
        EACH_LANE sum = sum + four(lines_at(memory, places.at[i], quad));
    }
    return sum;
}

// Every bucket of a river board gets the sum over its combos' reach on the turn. A thread works on four
// lines of four buckets.
SMALL_KERNEL(MOVERS, 1) deal(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = modulo(BLOCK, s->lane_blocks);
    const int board = s->first_board + quotient(BLOCK, s->lane_blocks);
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board), lines = s->leaves;
    const float *rows = s->reach + (Long)first * s->reach_rows;
    const int *leaf_reach = s->leaf_reach;
    for (Quads at(hands); at.left(); at.next()) {
        const int hand = at.place, quad = at.quad, line = WIDE * lanes + 4 * quad;
        float *to = lines_at(memory, hand, quad);
        const float *from[4];
        EACH_LANE from[i] = rows + (Long)(line + i < lines ? leaf_reach[line + i] : 0) * hands + hand;
        EACH_LANE if (line + i < lines) copy_number_soon(to + i, from[i]);
        else to[i] = 0.0f;
    }
    for (int quad = THREAD; quad < WIDE / 4; quad += THREADS)
        put(lines_at(memory, hands, quad), all(0.0f)); // of places that fill up lists
    ALL_COPIED();
    SYNC();
    const int river = s->children[board], tasks = (s->children[board + 1] - river) * QUARTERS * WIDE / 4;
    const int *combos = s->bucket_fours;
    const Short *first_of = s->bucket_first;
    const Places *every = (const Places *)s->bucket_hand;
    float *to_lines = s->line_rows;
    for (int task = THREAD; task < tasks; task += THREADS) {
        const int quad = task % (WIDE / 4), bucket = task / (WIDE / 4) % QUARTERS * 4;
        const int below = river + task / (WIDE / 4) / QUARTERS, line = WIDE * lanes + 4 * quad;
        if (line >= lines) continue;
        const Short *bounds = first_of + (Long)below * (BUCKETS + 1) + bucket;
        const Places *places = every + combos[below];
        Four sums[4];
        EACH_LANE sums[i] = sum_places(memory, places, bounds[i], bounds[i + 1], quad, all(0.0f));
        float *to = to_lines + ((Long)below * lines + line) * BUCKETS + bucket;
        UNROLL for (int j = 0; j < 4; j++) {
            Four turned;
            EACH_LANE turned.lane[i] = sums[i].lane[j];
            if (line + j < lines) put(to + j * BUCKETS, turned);
        }
    }
}

// The leaves of a turn: a hand gets the values of its buckets on the rivers, some boards at a time. A
// thread works on four lines of two hands.
SMALL_KERNEL(MOVERS, 1) collect(const Boards *ONLY s) {
    SHARED(memory);
    const int lanes = modulo(BLOCK, s->lane_blocks);
    const int board = s->first_board + quotient(BLOCK, s->lane_blocks);
    if (!lanes_visited(s, s->flop_of[board], lanes)) return;
    const int first = s->player_start[board], hands = hands_on(s->player_start, board), lines = s->leaves;
    float *rows = s->values + (Long)first * s->value_rows;
    const int last = s->children[board + 1], parts = s->parts;
    const float *line_rows = s->line_rows;
    const Places *entries = (const Places *)s->entries;
    for (int part = 0; part < parts; part++) {
        const int river = s->children[board] + part * s->part;
        const int left = last - river, count = left < s->part ? left : s->part;
        if (count <= 0) break;
        const int places = count * BUCKETS;
        for (Quads at(places); at.left(); at.next()) {
            const int place = at.place, quad = at.quad, line = WIDE * lanes + 4 * quad;
            const Long below = river + place / BUCKETS;
            float *to = lines_at(memory, place, quad);
            const float *from = line_rows + (below * lines + line) * BUCKETS + place % BUCKETS;
            EACH_LANE if (line + i < lines) copy_number_soon(to + i, from + i * BUCKETS);
            else to[i] = 0.0f;
        }
        for (int quad = THREAD; quad < WIDE / 4; quad += THREADS)
            put(lines_at(memory, s->part * BUCKETS, quad), all(0.0f));
        ALL_COPIED();
        SYNC();
        for (int task = THREAD; task < hands / 2 * (WIDE / 4); task += THREADS) {
            const int quad = task % (WIDE / 4), hand = task / (WIDE / 4) * 2;
            const int line = WIDE * lanes + 4 * quad;
            if (line >= lines) continue;
            Four sums[2];
            UNROLL for (int two = 0; two < 2; two++) {
                Four before = all(0.0f);
                if (part > 0)
                    EACH_LANE if (line + i < lines) before.lane[i] =
                        rows[(Long)s->leaf_value[line + i] * hands + hand + two];
                const int *bounds = s->entry_start + (Long)(first + hand + two) * parts + part;
                sums[two] = sum_places(memory, entries, bounds[0], bounds[1], quad, before);
                if (left <= s->part) {
                    const float share = s->share[first + hand + two];
                    EACH_LANE sums[two].lane[i] *= share;
                }
            }
            EACH_LANE if (line + i < lines) {
                float *to = rows + (Long)s->leaf_value[line + i] * hands + hand;
                *(Two *)to = {sums[0].lane[i], sums[1].lane[i]};
            }
        }
        SYNC();
    }
}

// ---- lines of a river board, both passes in shared memory
//
// A block has PLAYERS threads and takes a piece: some lines of a board. What it reads and writes of
// the device's memory is on its way while it computes: the matrices (2 · BUCKETS² bytes), the rows of
// its lines (8 · BUCKETS bytes a line), and stored numbers (10 · BUCKETS bytes for an action of either
// player). Reach and values have the same place: all products are in registers when the first row of
// values is written. So have the opponent's numbers and the player's averages, which are read later.

#define ONE 127           // of the matrices

struct alignas(16) Piece { // of a river board: some lines; its nodes, and its rows from 0
    int first_line, lines, rows, nodes, node_count, terms, tiles, zeros, zero_count;
    int early_stage, regret_stage; // actions that `Room` has room for
    int runs, run_count;
    int unused[3];
};
struct alignas(16) Run { // nodes of a pot in a piece whose numbers stand one after the other
    int is_player, pot, slot, actions, stage;
    int unused[3];
};
struct alignas(16) Pot { // on the board of a block; POT_BYTES
    Long player, opponent; // where the numbers of its nodes begin
    Weights weights;
    int visited, averages; // whether the player's averages are read: where they move or are played
};

// What a block has in shared memory.
struct Room {
    Pot *pots;
    Word *margin, *pairs;
    float *rows; // reach, and then values
    Short *early;   // stored numbers of the opponent, and then averages of the player
    Short *regrets; // of the player
};

struct Here { // where a block is: a division, which its phases share
    int piece, board;
};
DEVICE Here here_of(const Boards *ONLY s) {
    const int before = quotient(BLOCK, s->piece_count);
    return {BLOCK - before * (int)s->piece_count, (int)s->first_board + before};
}

DEVICE Room room_of(const Boards *ONLY s, float *memory, const Piece &piece) {
    Room room;
    room.pots = (Pot *)memory;
    room.margin = (Word *)(room.pots + s->pots);
    room.pairs = room.margin + HALF_MATRIX;
    room.rows = (float *)(room.pairs + HALF_MATRIX);
    room.early = (Short *)(room.rows + piece.rows * LINE);
    room.regrets = room.early + piece.early_stage * BUCKETS;
    return room;
}

// Where the number of a node's first action stands among those of a block.
DEVICE int staged_at(const Node &node, int bucket) {
    return node.number * BUCKETS + bucket / 16 * 16 * node.actions + bucket % 16;
}

#define OPPONENTS_NUMBERS 0
#define PLAYERS_REGRETS 1
#define PLAYERS_AVERAGE 2

// Stored numbers of a piece into shared memory, or back from there.
DEVICE void move_numbers(const Boards *ONLY s, const Piece &piece, const Pot *pots, int which,
                         bool back, Short *stage) {
    const int is_player = which != OPPONENTS_NUMBERS;
    Short *stored;
    if (which == OPPONENTS_NUMBERS)
        stored = (Short *)(s->mode == UPDATE ? (const void *)s->opponent_regrets
                                             : (const void *)s->opponent_average);
    else
        stored = which == PLAYERS_REGRETS ? (Short *)s->player_regrets : (Short *)s->player_average;
    const Run *runs = s->runs + piece.runs;
    const int count = piece.run_count;
    for (int r = 0; r < count; r++) {
        const Run run = runs[r];
        const Pot &pot = pots[run.pot];
        if (run.is_player != is_player || !pot.visited) continue;
        if (which == PLAYERS_AVERAGE && !pot.averages) continue;
        Short *there = stored + (is_player ? pot.player : pot.opponent) + (Long)run.slot * BUCKETS;
        Short *here = stage + run.stage * BUCKETS;
        for (int each = 8 * THREAD; each < run.actions * BUCKETS; each += 8 * THREADS) {
            if (back)
                put((float *)(there + each), four((const float *)(here + each)));
            else
                copy_soon(here + each, there + each);
        }
    }
}

// Where the numbers of a pot begin: every river board has BUCKETS rows.
DEVICE Long river_numbers(const int *actions, int pots, int pot, Long board, Long first, Long last) {
    const Long before = actions[pot], mine = actions[pot + 1] - before;
    return BUCKETS * (actions[pots] * first + before * (last - first) + mine * (board - first));
}

// Reach of the lines is on its way; one matrix is there, and what the pots are asked for.
PHASE load_board(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    const Long board = here.board, matrix = board * BUCKETS * BUCKETS;
    const float *lines = s->line_rows + (board * s->lines + piece.first_line) * BUCKETS;
    const int *first_row = s->line_reach + piece.first_line, tasks = piece.lines * QUARTERS;
    for (int task = THREAD; task < tasks; task += THREADS) {
        const int line = task / QUARTERS, bucket = task % QUARTERS * 4, row = first_row[line];
        copy_soon(room.rows + row * LINE + bucket, lines + line * BUCKETS + bucket);
    }
    const int flop = s->flop_of[board], pots = s->pots;
    const Long first = s->flop_first[flop], last = s->flop_first[flop + 1];
    const bool learns = s->mode == UPDATE;
    for (int pot = THREAD; pot < pots; pot += THREADS) {
        Pot found;
        found.player = river_numbers(s->player_actions, pots, pot, board, first, last);
        found.opponent = river_numbers(s->opponent_actions, pots, pot, board, first, last);
        found.weights = weights_of(s, flop, pot);
        found.visited = visited(s, flop, pot);
        found.averages = s->pot_locked[pot] ||
                         (learns ? found.weights.weight > 0.0f : s->mode != BEST_RESPONSE);
        room.pots[pot] = found;
    }
    take_matrix(s->margin + matrix, s->player == 0, room.margin);
    SYNC();
}

// The opponent's numbers are there, the player's regrets are on their way. Meanwhile the other matrix is
// taken.
PHASE load_numbers(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    move_numbers(s, piece, room.pots, OPPONENTS_NUMBERS, false, room.early);
    COPIES_END();
    if (s->mode == UPDATE) move_numbers(s, piece, room.pots, PLAYERS_REGRETS, false, room.regrets);
    COPIES_END();
    const Long matrix = (Long)here.board * BUCKETS * BUCKETS;
    take_matrix(s->pairs + matrix, s->player == 0, room.pairs);
    ALL_BUT_LAST_COPIED();
    SYNC();
}

// Reach, from lines to terminals: a bucket on a line is a column of its own in both passes. When it is
// there, the player's averages take the place of the opponent's numbers.
PHASE forward_piece(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    const bool learns = s->mode == UPDATE;
    for (int task = THREAD; task < piece.lines * BUCKETS; task += THREADS) {
        const int line = piece.first_line + task / BUCKETS, bucket = task % BUCKETS;
        for (int n = s->line_nodes[line]; n < s->line_nodes[line + 1]; n++) {
            const Node node = s->nodes[n];
            if (node.is_player) continue;
            const Short *stored = room.early + staged_at(node, bucket);
            share_reach(learns, (const Regret *)stored, (const Fraction *)stored, node, room.rows,
                        LINE, bucket, tremble_of(s));
        }
    }
    SYNC();
    move_numbers(s, piece, room.pots, PLAYERS_AVERAGE, false, room.early);
}

// Folds and showdowns: what they are worth takes the place of reach.
DEVICE void add_products(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    const Term *terms = s->products + piece.terms;
    const float one = 1.0f / ONE, sign = s->player == 0 ? 1.0f : -1.0f;
    OF_THREAD Sums sums[TASKS][SLOTS];
    UNROLL for (int held = 0; held < TASKS; held++) {
        const int task = WARP + held * WARPS, tile = task / PARTS;
        if (tile < piece.tiles)
            sum_tile(room.rows, room.margin, room.pairs, terms + tile * ROWS_OF_TILE,
                     task % PARTS * COLUMNS, one, sign, sums[held]);
    }
    SYNC();
    UNROLL for (int held = 0; held < TASKS; held++) {
        const int task = WARP + held * WARPS, tile = task / PARTS;
        if (tile < piece.tiles)
            write_tile(room.rows, terms + tile * ROWS_OF_TILE, task % PARTS * COLUMNS, sums[held]);
    }
    for (int task = THREAD; task < piece.zero_count * QUARTERS; task += THREADS) {
        const int row = s->zeros[piece.zeros + task / QUARTERS];
        put(room.rows + row * LINE + task % QUARTERS * 4, all(0.0f));
    }
    ALL_COPIED();
    SYNC();
}

// Values, from terminals to lines; regrets and averages move.
PHASE backward_piece(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    const int mode = s->mode;
    for (int task = THREAD; task < piece.lines * BUCKETS; task += THREADS) {
        const int line = piece.first_line + task / BUCKETS, bucket = task % BUCKETS;
        const Pot &pot = room.pots[s->line_pot[line]];
        if (!pot.visited) continue;
        const Weights weights = pot.weights;
        const float wobble = dither(weights.phase, bucket);
        for (int n = s->line_nodes[line + 1] - 1; n >= s->line_nodes[line]; n--) {
            const Node node = s->nodes[n];
            if (!node.is_player) continue;
            const int at = staged_at(node, bucket);
            const float *values = room.rows + node.child * LINE + bucket;
            put_value(node, room.rows, LINE, bucket,
                      decide(mode, (Regret *)(room.regrets + at), (Fraction *)(room.early + at), values,
                             LINE, weights, wobble, node.locked, node.actions));
        }
    }
    SYNC();
}

// The lines' values, by the chance of the board, and what was learned go back to memory.
PHASE store_piece(const Boards *ONLY s, Here here) {
    SHARED(memory);
    const Piece &piece = s->river_pieces[here.piece];
    const Room room = room_of(s, memory, piece);
    const Long board = here.board;
    const float chance = s->chance[board];
    float *lines = s->line_rows + (board * s->lines + piece.first_line) * BUCKETS;
    for (int task = THREAD; task < piece.lines * QUARTERS; task += THREADS) {
        const int line = task / QUARTERS, bucket = task % QUARTERS * 4;
        const int row = s->line_value[piece.first_line + line];
        Four value = four(room.rows + row * LINE + bucket);
        EACH_LANE value.lane[i] *= chance;
        put(lines + line * BUCKETS + bucket, value);
    }
    if (s->mode != UPDATE) return;
    move_numbers(s, piece, room.pots, PLAYERS_REGRETS, true, room.regrets);
    move_numbers(s, piece, room.pots, PLAYERS_AVERAGE, true, room.early);
}

SMALL_KERNEL(PLAYERS, TABLES) play_rivers(const Boards *ONLY s) {
    SHARED(memory);
    const Here here = here_of(s);
    load_board(s, here);
    bool some = false;
    for (int pot = 0; pot < s->pots; pot++) some |= ((const Pot *)memory)[pot].visited;
    if (!some) {
        ALL_COPIED(); // nothing is on its way to memory that another block gets
        return;
    }
    load_numbers(s, here);
    forward_piece(s, here);
    add_products(s, here);
    backward_piece(s, here);
    store_piece(s, here);
}
