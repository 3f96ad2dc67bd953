// Scores of tokens of text, of n-grams one by one, and of many words after a context.
//
// Compiled once for each LANES (lanes of a search), NODE (keys of a node) and BUCKETS
// (the orders in buckets), with kernels for each common ORDER.
//
// The walk over a whole context equals the walk over KenLM's state, which is cut to the
// longest n-gram that has a backoff or begins a longer one. The reason: a model has the
// context of each n-gram, whose backoff is not -0.0. So no n-gram follows a context that
// the cut removed, and its backoff, which is -0.0, changes no sum. From the second token
// of a run on the state is known and cuts the walk.
#include "walk.cuh"

#define JOIN_(a, b, c, d, e) a##_t##b##_k##c##_h##d##_n##e
#define JOIN(a, b, c, d, e) JOIN_(a, b, c, d, e)
#define NAME(kind, order) JOIN(kind, LANES, NODE, BUCKETS, order)

// Threads of a block.
#define THREADS 128

// Scores words, one run of them per tile.
//
// Tokens: each word follows those before it in its sentence. Its walk finds the backoffs
// of the context of the next word. So the walk of the predecessor is repeated only for the
// first word of a run that does not begin a sentence.
//
// Otherwise the words are candidates after one context, whose walk comes first.
template <bool TOKENS, int ORDER>
__device__ __forceinline__ void score_runs(const Model& model, const unsigned* words,
                                           const unsigned* before, unsigned count,
                                           unsigned run,
                                           float* log10, unsigned char* matched) {
    Walk<LANES, NODE, BUCKETS, ORDER> walk(model);
    const unsigned lane = walk.lane;
    const unsigned most = walk.order() - 1;  // words of context
    const u64 tile = (static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x) / LANES;
    unsigned at = tile * run < count ? static_cast<unsigned>(tile * run) : count;
    const unsigned end = count - at > run ? at + run : count;

    const auto word_at = [&](unsigned at) -> unsigned {
        if (at >= end) return 0;
        return TOKENS || words ? __ldg(words + at) : at;
    };

    // The context of the first walk: by lane, as far as there is any.
    unsigned word = word_at(at);
    unsigned older = 0;
    bool is_older = false;
    bool replay = false;  // this walk is only for the next one
    if (at < end) {
        if (TOKENS) {
            replay = at > 0 && !(word & SENTENCE_START);
            if (replay) word = __ldg(words + at - 1);
            const unsigned behind = at - replay;
            is_older = lane < most && lane < behind && !(word & SENTENCE_START);
            if (is_older) older = __ldg(words + behind - 1 - lane);
        } else if (most > 0) {
            const unsigned newest = __ldg(before);
            replay = newest != NO_WORD;
            if (replay) word = newest;
            if (replay && lane + 1 < most) older = __ldg(before + lane + 1);
            is_older = replay && lane + 1 < most && older != NO_WORD;
        }
    }
    const unsigned missing = walk.ballot(!is_older);
    const unsigned starts = walk.ballot(TOKENS && is_older && older & SENTENCE_START);
    unsigned available = missing ? __ffs(missing) - 1 : LANES;
    if (starts && __ffs(starts) < available) available = __ffs(starts);

    const auto id = [](unsigned token) { return TOKENS ? token & ~SENTENCE_START : token; };
    walk.context = walk.known(id(older));
    walk.usable = available;
    word = walk.known(id(word));
    walk.begin(at < end, word, walk.unigram(word));
    unsigned charged = 0;  // by lane: the backoffs of the context, as bits
    // A word's entry is requested one word ahead, the word itself two ahead.
    unsigned ahead = word_at(at + !replay);
    uint4 entry = walk.unigram(id(ahead));
    unsigned later = word_at(at + !replay + 1);

    while (__any_sync(ALL, at < end)) {
        walk.step();
        const bool ended = at < end && walk.stage == ENDED;
        if (!__any_sync(ALL, ended)) continue;
        const float sum = walk.template score<LANES>(charged, walk.usable, 0);
        const unsigned shifted = __shfl_up_sync(ALL, walk.context, 1, LANES);
        const uint4 now = entry;
        if (ended) {
            if (!replay) {
                if (lane == 0) {
                    log10[at] = sum;
                    if (matched) matched[at] = static_cast<unsigned char>(walk.length);
                }
                at += 1;
            }
            if (TOKENS || replay) {
                charged = walk.backoffs;
                walk.context = lane == 0 ? word : shifted;
                walk.usable = TOKENS && ahead & SENTENCE_START ? 0 : walk.kept;
            }
            replay = false;
            word = walk.known(id(ahead));
            ahead = later;
            entry = walk.unigram(id(ahead));
            later = word_at(at + 2);
        }
        walk.begin(ended && at < end, word, now);
    }
}

// Scores n-grams, newest word first, with a pair of tiles per query. One tile walks from
// the newest word and the other, at the same time, from the word before it, to find the
// backoffs of the context.
template <int ORDER>
__device__ __forceinline__ void score_ngrams(const Model& model, const unsigned* queries,
                                             unsigned count, unsigned run, float* log10,
                                             unsigned char* matched, unsigned char* kept,
                                             unsigned* backoffs) {
    constexpr unsigned PAIR = 2 * LANES;
    Walk<LANES, NODE, BUCKETS, ORDER> walk(model);
    const unsigned lane = walk.lane;
    const unsigned order = walk.order();
    const unsigned of_context = threadIdx.x / LANES & 1;
    const unsigned shift = threadIdx.x % 32 / PAIR * PAIR;
    const u64 pair = (static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x) / PAIR;
    unsigned at = pair * run < count ? static_cast<unsigned>(pair * run) : count;
    const unsigned end = count - at > run ? at + run : count;

    const auto word_at = [&](unsigned at, unsigned i) -> unsigned {
        const u64 first = static_cast<u64>(at) * order;
        return at < end && i < order ? __ldg(queries + first + i) : NO_WORD;
    };
    // By tile: the word of the walk; by lane: its context.
    const unsigned mine = of_context, others = of_context + 1 + lane;
    unsigned word = word_at(at, mine), older = word_at(at, others);
    uint4 now = walk.unigram(word);
    // An entry is requested one query ahead, the words two ahead.
    unsigned ahead = word_at(at + 1, mine), ahead_older = word_at(at + 1, others);
    uint4 entry = walk.unigram(ahead);
    unsigned later = word_at(at + 2, mine), later_older = word_at(at + 2, others);

    bool fresh = true;
    while (true) {
        // The query at `at` begins; after the last one there is only padding.
        const unsigned padding = walk.ballot(older == NO_WORD);
        if (fresh) {
            walk.context = walk.known(older);
            walk.usable = padding ? __ffs(padding) - 1 : LANES;
            walk.stage = ENDED;
            walk.length = 1;
            walk.kept = 0;
            walk.backoffs = 0;
        }
        walk.begin(fresh && word != NO_WORD, walk.known(word), now);
        do {
            if (!__any_sync(ALL, at < end)) return;
            walk.step();
            const unsigned ended = __ballot_sync(ALL, at < end && walk.stage == ENDED) >> shift;
            constexpr unsigned BOTH = PAIR == 32 ? ALL : (1u << PAIR % 32) - 1;
            fresh = (ended & BOTH) == BOTH;
        } while (!__any_sync(ALL, fresh));
        const unsigned contexts = __shfl_sync(ALL, walk.kept, LANES, PAIR);
        const float sum = walk.template score<PAIR>(walk.backoffs, contexts, LANES);
        if (fresh) {
            if (!of_context) {
                const bool empty = word == NO_WORD;
                if (lane == 0) {
                    log10[at] = empty ? 0.0f : sum;
                    if (matched) matched[at] = static_cast<unsigned char>(empty ? 0 : walk.length);
                    if (kept) kept[at] = static_cast<unsigned char>(walk.kept);
                }
                if (backoffs && lane < order - 1) {
                    backoffs[static_cast<u64>(at) * (order - 1) + lane] = walk.backoffs;
                }
            }
            at += 1;
            word = ahead;
            older = ahead_older;
            now = entry;
            ahead = later;
            ahead_older = later_older;
            entry = walk.unigram(ahead);
            later = word_at(at + 2, mine);
            later_older = word_at(at + 2, others);
        }
    }
}

#define KERNELS(SUFFIX, ORDER)                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 8) NAME(tokens, SUFFIX)(               \
        const __grid_constant__ Model model, const unsigned* tokens, unsigned count, unsigned run, \
        float* log10, unsigned char* matched) {                                               \
        score_runs<true, ORDER>(model, tokens, nullptr, count, run, log10, matched);          \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, 6) NAME(ngrams, SUFFIX)(               \
        const __grid_constant__ Model model, const unsigned* queries, unsigned count,         \
        unsigned run, float* log10, unsigned char* matched, unsigned char* kept,              \
        unsigned* backoffs) {                                                                 \
        score_ngrams<ORDER>(model, queries, count, run, log10, matched, kept, backoffs);      \
    }                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, 8) NAME(next, SUFFIX)(                 \
        const __grid_constant__ Model model, const unsigned* words, const unsigned* contexts, \
        unsigned count, unsigned run, float* log10, unsigned char* matched) {                 \
        const u64 row = blockIdx.y;                                                           \
        score_runs<false, ORDER>(model, words, contexts + row * (model.order - 1), count,     \
                                 run, log10 + row * count,                                    \
                                 matched ? matched + row * count : nullptr);                  \
    }

KERNELS(0, 0)
#if LANES == 4
KERNELS(3, 3)
KERNELS(4, 4)
KERNELS(5, 5)
#endif
