// Buckets of the hands of river boards and of turn boards: `boards/kernels/bucket_hands.py` and
// `bucket_matrices.py` for a GPU, with the same results bit for bit.
//
// Weights are whole numbers: sums of them are exact, in any order. A block takes the hands of one
// board, for one player and pair of ranges. Points are [16][STRIDE], in shared memory unless
// POINTS_APART says that there is no room for them.

#include "k_means.cuh"

#define PARTS 8
#define CARDS 52
#define CLASSES 169
#define CLASS_STEP 64
#define MATRIX_ONE 127.0
#define RIVERS 48      // more than a hand of a turn has places below

struct Place { // of a turn's hand on a river
    float equity;
    int mass; // pairs of card and combo that it stands for
};

struct Bucketing {
    Long first_block; // of a launch
    Long river_buckets, turn_buckets, rounds;
    Long most; // hands of a board, padded
    Long most_combos;
    Long stride;   // of the points of a block
    Long tile;     // rows of matrices that are worked on at once
    float *points; // [blocks][16][stride], where shared memory has no room for them
    const float *river_draws, *turn_draws; // [buckets][2]
    const Byte *hand_class;                // [64][64]: by cards
    const int *class_weights;              // [S][2][169]
    // River boards: B boards, H hands, C combos.
    Long boards, hands, combos;
    const int *start; // [B + 1]: hands
    const int *count; // [B]
    const Short *hand_parent; // [H]: on the turn
    const Short *mass;        // [H]: pairs of river card and combo; 0 for padding
    const int *combo_start;   // [B + 1]
    const Short *combo_hand;  // [C]
    const Short *combo_strengths; // [C]: rising
    const Byte *combo_cards;      // [C][2]
    // Turn boards.
    Long turns, turn_hands;
    const int *turn_start, *turn_count, *turn_combo_start;
    const Short *turn_combo_hand;
    const Byte *turn_combo_cards;
    const int *children; // [T + 1]: river boards
    // What is found, by pair of ranges and player.
    Byte *river_bucket; // [S][2][H]
    float *equity;      // [S][2][H]
    Byte *turn_bucket;  // [S][2][turn hands]
    Place *places;      // [blocks][48][most]
    Short *first;       // [S][2][B][buckets + 1]
    Short *parent;      // [S][2][C]
    signed char *margin, *pairs; // [S][B][buckets][buckets]
};

// ---- where a block has what

struct Room {
    char *at;
};
template <typename Kind> DEVICE Kind *take(Room &room, int count) {
    Kind *found = (Kind *)room.at;
    room.at += (count * (int)sizeof(Kind) + 15) / 16 * 16;
    return found;
}

DEVICE Means means_of(const Bucketing *g, Room &room, int centres, const float *draws, int count,
                      int padded) {
    Means m;
    m.count = count;
    m.padded = padded;
    m.centre_count = centres;
    m.rounds = (int)g->rounds;
    m.draws = draws;
    m.stride = (int)g->stride;
#ifdef POINTS_APART
    m.points = g->points + (Long)BLOCK * DIMENSIONS * g->stride; // by block of a launch
#else
    m.points = take<float>(room, DIMENSIONS * m.stride);
#endif
    const int most = (int)g->most;
    m.weights = take<float>(room, most);
    m.centres = take<float>(room, centres * DIMENSIONS);
    m.half = take<float>(room, centres);
    m.sums = take<float>(room, 3 * LANES);
    m.labels = take<Short>(room, 2 * most);
    m.members = take<Short>(room, most);
    m.places = take<Short>(room, centres * SEGMENTS);
    m.ends = take<Short>(room, centres + 1);
    m.word = take<int>(room, 4);
    m.nearest = take<float>(room, 3 * most);
    return m;
}

// ---- profiles

struct Combos { // of one board
    int first, count;
    const Short *strengths, *hands;
    const Byte *cards;
};

DEVICE Combos combos_of(const Bucketing *g, int board) {
    Combos c;
    c.first = g->combo_start[board];
    c.count = g->combo_start[board + 1] - c.first;
    c.strengths = g->combo_strengths + c.first;
    c.hands = g->combo_hand + c.first;
    c.cards = g->combo_cards + 2 * (Long)c.first;
    return c;
}

DEVICE int class_of(const Bucketing *g, const Combos &c, int combo) {
    return g->hand_class[CLASS_STEP * c.cards[2 * combo] + c.cards[2 * combo + 1]];
}

// How many of the first `count` of rising numbers are below `limit`.
DEVICE int rank_of(const Short *numbers, int count, int limit) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (numbers[middle] < limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The combos that hold each card, in order: `holders` from card_first[card] on.
DEVICE void list_by_card(const Combos &c, Short *card_first, Short *holders) {
    for (int card = THREAD; card < CARDS; card += THREADS) {
        int found = 0;
        for (int combo = 0; combo < c.count; combo++)
            found += c.cards[2 * combo] == card || c.cards[2 * combo + 1] == card;
        card_first[card + 1] = (Short)found;
    }
    SYNC();
    if (THREAD == 0) {
        card_first[0] = 0;
        for (int card = 0; card < CARDS; card++) card_first[card + 1] += card_first[card];
    }
    SYNC();
    for (int card = THREAD; card < CARDS; card += THREADS) {
        int at = card_first[card];
        for (int begin = 0; begin < c.count; begin += AHEAD) {
            bool holds[AHEAD];
            UNROLL for (int step = 0; step < AHEAD; step++) {
                const int combo = begin + step;
                holds[step] = combo < c.count && (c.cards[2 * combo] == card ||
                                                  c.cards[2 * combo + 1] == card);
            }
            UNROLL for (int step = 0; step < AHEAD; step++)
                if (holds[step]) holders[at++] = (Short)(begin + step);
        }
    }
    SYNC();
}

struct Range { // of the opponent, on one board
    int *weights;    // [combos]
    int *upto;       // [combos + 1]: sums before each
    Byte *parts;     // [combos]
    Short *holders;  // [2 · combos]: those with each card, in order
    int *held;       // [2 · combos + CARDS]: sums before each, card by card
    Short *card_first;  // [CARDS + 1]
    int *part_total; // [PARTS], and before [SEGMENTS]
    int *part_card;  // [CARDS][PARTS]
};

DEVICE int weight_below(const Range &r, int card, int combo) { // of those with a card
    const int first = r.card_first[card], count = r.card_first[card + 1] - first;
    return r.held[first + card + rank_of(r.holders + first, count, combo)];
}

DEVICE void read_range(const Bucketing *g, const Combos &c, const int *by_class, Range &r) {
    for (int combo = THREAD; combo < c.count; combo += THREADS)
        r.weights[combo] = by_class[class_of(g, c, combo)];
    SYNC();
    // Sums of runs of combos, of the runs before each, and then within.
    const int run = (c.count + SEGMENTS - 1) / SEGMENTS;
    for (int segment = THREAD; segment < SEGMENTS; segment += THREADS) {
        int sum = 0;
        for (int combo = segment * run; combo < (segment + 1) * run && combo < c.count; combo++)
            sum += r.weights[combo];
        r.part_total[segment] = sum;
    }
    list_by_card(c, r.card_first, r.holders);
    for (int segment = THREAD; segment < SEGMENTS; segment += THREADS) {
        int sum = 0;
        for (int before = 0; before < segment; before++) sum += r.part_total[before];
        for (int combo = segment * run; combo < (segment + 1) * run && combo < c.count; combo++) {
            r.upto[combo] = sum;
            sum += r.weights[combo];
        }
        if (segment == SEGMENTS - 1) r.upto[c.count] = sum;
    }
    SYNC();
    const double total = r.upto[c.count];
    const double cuts[PARTS] = {0.0, 0.25, 0.5, 0.65, 0.75, 0.85, 0.92, 0.97};
    for (int combo = THREAD; combo < c.count; combo += THREADS) {
        const double below = r.upto[rank_of(c.strengths, c.count, c.strengths[combo])];
        int part = 0;
        while (part < PARTS - 1 && below >= product_of(cuts[part + 1], total)) part++;
        r.parts[combo] = (Byte)part;
    }
    SYNC();
    for (int card = THREAD; card < CARDS; card += THREADS) {
        const int begin = r.card_first[card], end = r.card_first[card + 1];
        int *held = r.held + begin + card, *sums = r.part_card + card * PARTS, sum = 0;
        for (int part = 0; part < PARTS; part++) sums[part] = 0;
        for (int at = begin; at < end; at++) {
            const int combo = r.holders[at];
            *held++ = sum;
            sum += r.weights[combo];
            sums[r.parts[combo]] += r.weights[combo];
        }
        *held = sum;
    }
    for (int part = THREAD; part < PARTS; part += THREADS) {
        // Parts are runs of combos.
        int low = 0, high = c.count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (r.parts[middle] < part) low = middle + 1;
            else high = middle;
        }
        int end = low, top = c.count;
        while (end < top) {
            const int middle = (end + top) / 2;
            if (r.parts[middle] <= part) end = middle + 1;
            else top = middle;
        }
        r.part_total[part] = r.upto[end] - r.upto[low];
    }
    SYNC();
}

// `bucket_hands.board_profiles`
DEVICE void take_profiles(const Combos &c, const Range &r, const Means &m, float *equity) {
    const double total = r.upto[c.count], scale = total > 0.0 ? 1.0 / total : 0.0;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        if (hand >= m.count) {
            for (int d = 0; d < DIMENSIONS; d++) m.points[d * m.stride + hand] = 0.0f;
            continue;
        }
        const int same = rank_of(c.hands, c.count, hand); // its first combo
        const int a = c.cards[2 * same], b = c.cards[2 * same + 1], strength = c.strengths[same];
        const int weaker = rank_of(c.strengths, c.count, strength);
        const int through = rank_of(c.strengths, c.count, strength + 1);
        const int mine = r.parts[weaker], weight = r.weights[same];
        int met = 0, rest = 0;
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            int mass = r.part_total[part] - r.part_card[a * PARTS + part] -
                       r.part_card[b * PARTS + part];
            if (r.parts[same] == part) mass += weight;
            const int sign = part < mine ? mass : -mass;
            met += mass;
            rest += part == mine ? 0 : sign;
            m.points[part * m.stride + hand] = (float)product_of((double)sign, scale);
            m.points[(PARTS + part) * m.stride + hand] = (float)product_of((double)mass, scale);
        }
        const int won = r.upto[weaker] - weight_below(r, a, weaker) - weight_below(r, b, weaker);
        const int not_lost = r.upto[through] - weight_below(r, a, through) -
                             weight_below(r, b, through) + weight;
        const int margin = won - (met - not_lost);
        m.points[mine * m.stride + hand] = (float)product_of((double)(margin - rest), scale);
        equity[hand] = (float)(met > 0 ? (double)margin / (double)met : 0.0);
    }
}

// How often the player holds each hand: what counts in k-means.
DEVICE void weigh_hands(const Bucketing *g, const Combos &c, const int *by_class, const Means &m) {
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        int weight = 0;
        if (hand < m.count)
            for (int combo = rank_of(c.hands, c.count, hand);
                 combo < c.count && c.hands[combo] == hand; combo++)
                weight += by_class[class_of(g, c, combo)];
        m.weights[hand] = (float)weight;
    }
    SYNC();
}

// A block buckets the hands of a board for a player and a pair of ranges.
SMALL_KERNEL(BUCKETERS, 2) bucket_rivers(const Bucketing *ONLY g) {
    SHARED(shared);
    const int number = (int)g->first_block + BLOCK;
    const int board = number % (int)g->boards, player = number / (int)g->boards % 2;
    const int set = number / (int)g->boards / 2;
    const int first = g->start[board], buckets = (int)g->river_buckets;
    const Combos c = combos_of(g, board);
    Room room = {(char *)shared};
    const Means m = means_of(g, room, buckets, g->river_draws, g->count[board],
                             g->start[board + 1] - first);
    const int combos = (int)g->most_combos;
    Room profiles = {(char *)m.weights}; // in the place of all but points, which comes later
    Range r;
    r.weights = take<int>(profiles, combos);
    r.upto = take<int>(profiles, combos + 1);
    r.held = take<int>(profiles, 2 * combos + CARDS);
    r.part_total = take<int>(profiles, SEGMENTS);
    r.part_card = take<int>(profiles, CARDS * PARTS);
    r.holders = take<Short>(profiles, 2 * combos);
    r.card_first = take<Short>(profiles, CARDS + 1);
    r.parts = take<Byte>(profiles, combos);
    read_range(g, c, g->class_weights + (2 * set + 1 - player) * CLASSES, r);
    const Long all = (Long)(2 * set + player) * g->hands + first;
    take_profiles(c, r, m, g->equity + all);
    SYNC();
    weigh_hands(g, c, g->class_weights + (2 * set + player) * CLASSES, m);
    cluster(m);
    // The margin over the whole range puts the buckets in order.
    for (int bucket = THREAD; bucket < buckets; bucket += THREADS) {
        float margin = 0.0f;
        for (int part = 0; part < PARTS; part++)
            margin = sum_of(margin, m.centres[bucket * DIMENSIONS + part]);
        m.half[bucket] = margin;
    }
    SYNC();
    for (int bucket = THREAD; bucket < buckets; bucket += THREADS) {
        int below = 0;
        for (int other = 0; other < buckets; other++)
            below += m.half[other] < m.half[bucket] ||
                     (m.half[other] == m.half[bucket] && other < bucket);
        m.ends[bucket] = (Short)below;
    }
    SYNC();
    for (int hand = THREAD; hand < m.count; hand += THREADS)
        g->river_bucket[all + hand] = (Byte)m.ends[m.labels[hand]];
}

// ---- turn buckets

// A block buckets the hands of a turn board, for a player and a pair of ranges.
SMALL_KERNEL(BUCKETERS, 1) bucket_turns(const Bucketing *ONLY g) {
    SHARED(shared);
    const int number = (int)g->first_block + BLOCK;
    const int board = number % (int)g->turns, player = number / (int)g->turns % 2;
    const int set = number / (int)g->turns / 2;
    const int first = g->turn_start[board], buckets = (int)g->turn_buckets;
    Byte *marks = g->turn_bucket + (Long)(2 * set + player) * g->turn_hands + first;
    const int hands = g->turn_count[board];
    if (hands <= buckets) {
        for (int hand = THREAD; hand < hands; hand += THREADS) marks[hand] = (Byte)hand;
        return;
    }
    Room room = {(char *)shared};
    const Means m = means_of(g, room, buckets, g->turn_draws, hands, g->turn_start[board + 1] - first);
    // What the rivers leave each hand with, [RIVERS][hands]: in any order.
    int *seen = (int *)m.nearest, *total = seen + m.padded;
    Place *places = g->places + (Long)BLOCK * RIVERS * g->most;
    for (int hand = THREAD; hand < m.padded; hand += THREADS) seen[hand] = total[hand] = 0;
    SYNC();
    const float *equity = g->equity + (Long)(2 * set + player) * g->hands;
    const int from = g->start[g->children[board]], to = g->start[g->children[board + 1]];
    for (int place = from + THREAD; place < to; place += THREADS) {
        if (!g->mass[place]) continue; // padding
        const int hand = g->hand_parent[place];
        const int at = take_next(seen + hand);
        add_exactly(total + hand, g->mass[place]);
        places[(Long)at * g->most + hand].equity = equity[place];
        places[(Long)at * g->most + hand].mass = g->mass[place];
    }
    SYNC();
    for (int hand = THREAD; hand < m.padded; hand += THREADS) {
        for (int d = 0; d < DIMENSIONS; d++) m.points[d * m.stride + hand] = 0.0f;
        const int count = hand < hands ? seen[hand] : 0, all = total[hand];
        for (int mine = 0; mine < count; mine++) {
            const Place here = places[(Long)mine * g->most + hand];
            int below = 0;
            for (int other = 0; other < count; other++) {
                const Place there = places[(Long)other * g->most + hand];
                const bool less = there.equity < here.equity ||
                                  (there.equity == here.equity && other < mine);
                below += less ? there.mass : 0;
            }
            for (int d = 0; d < DIMENSIONS; d++) {
                const int wanted = (2 * d + 1) * all;
                if (2 * DIMENSIONS * below < wanted &&
                    wanted <= 2 * DIMENSIONS * (below + here.mass))
                    m.points[d * m.stride + hand] = here.equity;
            }
        }
    }
    const int begin = g->turn_combo_start[board];
    const Combos c = {begin, g->turn_combo_start[board + 1] - begin, nullptr,
                      g->turn_combo_hand + begin, g->turn_combo_cards + 2 * (Long)begin};
    weigh_hands(g, c, g->class_weights + (2 * set + player) * CLASSES, m);
    cluster(m);
    for (int hand = THREAD; hand < hands; hand += THREADS) marks[hand] = (Byte)m.labels[hand];
}

// ---- matrices and lists

struct Side { // a player's combos on one board
    Short *buckets;  // [combos]
    int *weights;   // [combos]
    Short *members; // [combos]: by bucket, and in order of strength within it
    Short *ends;    // [buckets + 1]
    int *totals;    // [buckets]
};

DEVICE Side side_of(Room &room, int combos, int buckets) {
    Side side;
    side.buckets = take<Short>(room, combos);
    side.weights = take<int>(room, combos);
    side.members = take<Short>(room, combos);
    side.ends = take<Short>(room, buckets + 1);
    side.totals = take<int>(room, buckets);
    return side;
}

// The combos of a board by bucket, and by their hand on the turn within it.
DEVICE void list_buckets(const Bucketing *g, const Combos &c, int board, int row, Short *places,
                        const Side &s) {
    const int buckets = (int)g->river_buckets, first = g->start[board];
    const Byte *marks = g->river_bucket + row * g->hands + first;
    const int *by_class = g->class_weights + row * CLASSES;
    for (int combo = THREAD; combo < c.count; combo += THREADS) {
        s.buckets[combo] = marks[c.hands[combo]];
        s.weights[combo] = by_class[class_of(g, c, combo)];
    }
    SYNC();
    list_members(s.buckets, c.count, buckets, places, s.ends, s.members);
    Short *parent = g->parent + row * g->combos + c.first;
    for (int place = THREAD; place < c.count; place += THREADS) {
        const int combo = s.members[place], bucket = s.buckets[combo];
        const int above = g->hand_parent[first + c.hands[combo]];
        int before = s.ends[bucket];
        for (int other = s.ends[bucket]; other < s.ends[bucket + 1]; other++) {
            const int his = g->hand_parent[first + c.hands[s.members[other]]];
            before += his < above || (his == above && other < place);
        }
        parent[before] = (Short)above;
    }
    Short *begin = g->first + (row * g->boards + board) * (buckets + 1);
    for (int bucket = THREAD; bucket <= buckets; bucket += THREADS) begin[bucket] = s.ends[bucket];
    for (int bucket = THREAD; bucket < buckets; bucket += THREADS) {
        int total = 0;
        for (int place = s.ends[bucket]; place < s.ends[bucket + 1]; place++)
            total += s.weights[s.members[place]];
        s.totals[bucket] = total;
    }
    SYNC();
}

// Pairs of a bucket of OOP's and one of IP's, whether they share a card or not: won − lost.
DEVICE Long won_in_all(const Combos &c, const Side &oop, const Side &ip, int row, int column) {
    int below = ip.ends[column], upto = below, net = -ip.totals[column];
    const int end = ip.ends[column + 1];
    Long won = 0;
    for (int place = oop.ends[row]; place < oop.ends[row + 1]; place++) {
        const int mine = oop.members[place], strength = c.strengths[mine];
        for (; below < end && c.strengths[ip.members[below]] < strength; below++)
            net += ip.weights[ip.members[below]];
        for (; upto < end && c.strengths[ip.members[upto]] <= strength; upto++)
            net += ip.weights[ip.members[upto]];
        won += (Long)oop.weights[mine] * net;
    }
    return won;
}

// `bucket_matrices`: a block takes a board and a pair of ranges.
SMALL_KERNEL(FILLERS, 2) fill_matrices(const Bucketing *ONLY g) {
    SHARED(shared);
    const int board = BLOCK % (int)g->boards, set = BLOCK / (int)g->boards;
    const int buckets = (int)g->river_buckets, combos = (int)g->most_combos, tile = (int)g->tile;
    Combos c = combos_of(g, board);
    Room room = {(char *)shared};
    const Side oop = side_of(room, combos, buckets), ip = side_of(room, combos, buckets);
    Short *places = take<Short>(room, buckets * SEGMENTS), *strengths = take<Short>(room, combos);
    Short *holders = take<Short>(room, 2 * combos), *card_first = take<Short>(room, CARDS + 1);
    Long *won = take<Long>(room, tile * buckets), *shared_pairs = take<Long>(room, tile * buckets);
    for (int combo = THREAD; combo < c.count; combo += THREADS)
        strengths[combo] = c.strengths[combo];
    c.strengths = strengths;
    list_by_card(c, card_first, holders);
    list_buckets(g, c, board, 2 * set, places, oop);
    list_buckets(g, c, board, 2 * set + 1, places, ip);
    for (int row = 0; row < buckets; row += tile) {
        const int rows = row + tile < buckets ? tile : buckets - row;
        for (int item = THREAD; item < rows * buckets; item += THREADS) {
            won[item] = won_in_all(c, oop, ip, row + item / buckets, item % buckets);
            shared_pairs[item] = 0;
        }
        SYNC();
        // Pairs that share a card are taken off again.
        const int begin = oop.ends[row], count = oop.ends[row + rows] - begin;
        for (int item = THREAD; item < 2 * count; item += THREADS) {
            const int mine = oop.members[begin + item / 2], side = item % 2;
            const int card = c.cards[2 * mine + side], strength = strengths[mine];
            const int at = (oop.buckets[mine] - row) * buckets, weight = oop.weights[mine];
            for (int place = card_first[card]; place < card_first[card + 1]; place++) {
                const int his = holders[place];
                if (side == 1 && his == mine) continue; // the combo itself holds both cards
                const Long both = (Long)weight * ip.weights[his];
                add_exactly(shared_pairs + at + ip.buckets[his], both);
                if (strengths[his] != strength)
                    add_exactly(won + at + ip.buckets[his], strengths[his] < strength ? -both : both);
            }
        }
        SYNC();
        const Long out = (((Long)set * g->boards + board) * buckets + row) * buckets;
        for (int item = THREAD; item < rows * buckets; item += THREADS) {
            const Long mine = oop.totals[row + item / buckets], all = mine * ip.totals[item % buckets];
            double margin = 0.0, pairs = 0.0;
            if (all > 0) {
                const double fits = (double)(all - shared_pairs[item]);
                margin = product_of(MATRIX_ONE, (double)won[item]) / (double)all;
                pairs = product_of(MATRIX_ONE, fits) / (double)all;
            }
            g->margin[out + item] = (signed char)rint(margin);
            g->pairs[out + item] = (signed char)rint(pairs);
        }
        SYNC();
    }
}
