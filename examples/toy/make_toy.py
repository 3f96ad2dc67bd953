#!/usr/bin/env python3
"""Make the toy English-Spanish model from its corpus.

    python3 make_toy.py

reads, in its own folder,

    corpus.en  corpus.es  corpus.align    sentence pairs, word aligned by hand
    mono.es                               Spanish only

and writes, beside them,

    phrase-table  reordering-table  lm.arpa

One idea: everything the model knows is a count of something one can see in
those four small files.  A phrase pair is a rectangle of the alignment that no
link crosses; its scores are relative frequencies of such rectangles and of
single links; its reordering scores say which corner of the rectangle touches
a link; the language model counts runs of up to three words.  So when a decoder
surprises, the reason can be found by eye, and when a table is wrong, it can be
worked out on paper.

The language model is read from mono.es as well as from corpus.es, because the
toy is to show what each part of the model is for.  The phrase table has seen
"yellow chairs" and "the flowers", never "yellow flowers": the decoder has to
swap the two words itself, paid for by the distortion and encouraged by the
reordering table, and it has to take "amarillas", not "amarillo", because the
language model has seen "flores amarillas".

Nothing is random, nothing depends on the order in which a set or a
dictionary is walked, and only the standard library is used, so the same corpus
gives the same bytes.
"""

import math
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent

MAX_PHRASE = 4  # words on either side of a phrase pair
REORDERING_SMOOTHING = 0.5  # added to each of the three orientation counts
LM_ORDER = 3

MONOTONE, SWAP, DISCONTINUOUS = range(3)


# The corpus ---------------------------------------------------------------


def read_sentences(name):
    """The sentences of a file, each a tuple of words."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [tuple(line.split()) for line in text.splitlines()]


def read_corpus():
    """Triples (source words, target words, set of links (source, target))."""
    sources = read_sentences("corpus.en")
    targets = read_sentences("corpus.es")
    alignments = [
        {tuple(int(i) for i in link.split("-")) for link in line}
        for line in read_sentences("corpus.align")
    ]
    assert len(sources) == len(targets) == len(alignments), "uneven corpus"
    corpus = list(zip(sources, targets, alignments))
    for number, (source, target, links) in enumerate(corpus, start=1):
        for s, t in links:
            assert s < len(source) and t < len(target), f"line {number}: {s}-{t}"
    return corpus


# Phrase pairs -------------------------------------------------------------


def phrase_spans(source, target, links):
    """Every rectangle (s1, s2, t1, t2), ends included, that makes a phrase pair.

    It holds at least one link, no link joins a word inside it to a word
    outside it, and neither side is longer than MAX_PHRASE.  Words without a link may stand at
    its edges on both sides: the target span is any span, and the source span
    grows from the smallest one over unlinked neighbours.
    """
    linked = {s for s, _ in links}
    for t1 in range(len(target)):
        for t2 in range(t1, min(t1 + MAX_PHRASE, len(target))):
            inside = [s for s, t in links if t1 <= t <= t2]
            if not inside:
                continue
            low, high = min(inside), max(inside)
            if any(low <= s <= high and not t1 <= t <= t2 for s, t in links):
                continue
            s1 = low
            while True:
                s2 = high
                while s2 - s1 < MAX_PHRASE:
                    yield s1, s2, t1, t2
                    s2 += 1
                    if s2 == len(source) or s2 in linked:
                        break
                s1 -= 1
                if s1 < 0 or s1 in linked:
                    break


def orientations(source, target, links, span):
    """How a phrase pair follows the phrase before it, and is followed.

    The word-based test: backward, look along the row of target word t1 - 1; a
    link at the near corner (s1 - 1) is monotone, one at the far corner
    (s2 + 1) is a swap, both or neither is discontinuous.  Forward is the
    mirror image.  The sentence is taken to have a link just before its start
    and another just after its end.
    """
    s1, s2, t1, t2 = span
    framed = links | {(-1, -1), (len(source), len(target))}

    def orientation(near, far):
        if (near in framed) == (far in framed):
            return DISCONTINUOUS
        return MONOTONE if near in framed else SWAP

    backward = orientation((s1 - 1, t1 - 1), (s2 + 1, t1 - 1))
    forward = orientation((s2 + 1, t2 + 1), (s1 - 1, t2 + 1))
    return backward, forward


def extract(corpus):
    """Count the phrase pairs, and per pair its alignments and orientations."""
    pairs = Counter()
    alignments = defaultdict(Counter)
    reorderings = defaultdict(lambda: ([0, 0, 0], [0, 0, 0]))
    for source, target, links in corpus:
        for span in phrase_spans(source, target, links):
            s1, s2, t1, t2 = span
            pair = source[s1 : s2 + 1], target[t1 : t2 + 1]
            pairs[pair] += 1
            inside = ((s - s1, t - t1) for s, t in links if t1 <= t <= t2)
            alignments[pair][tuple(sorted(inside))] += 1
            directions = orientations(source, target, links, span)
            for counts, orientation in zip(reorderings[pair], directions):
                counts[orientation] += 1
    # A pair seen with several alignments keeps the most frequent one, the
    # first in sorted order where two are equally frequent.
    chosen = {
        pair: min(seen, key=lambda links: (-seen[links], links))
        for pair, seen in alignments.items()
    }
    return pairs, chosen, reorderings


# Scores -------------------------------------------------------------------


class Lexicon:
    """w(source word | target word) and its inverse, from single links.

    A word without a link counts as linked to None on the other side.
    """

    def __init__(self, corpus):
        self.links = Counter()
        for source, target, links in corpus:
            self.links.update((source[s], target[t]) for s, t in links)
            linked_s = {s for s, _ in links}
            linked_t = {t for _, t in links}
            self.links.update(
                (word, None) for s, word in enumerate(source) if s not in linked_s
            )
            self.links.update(
                (None, word) for t, word in enumerate(target) if t not in linked_t
            )
        self.sources, self.targets = Counter(), Counter()
        for (source_word, target_word), count in self.links.items():
            self.sources[source_word] += count
            self.targets[target_word] += count

    def source_given_target(self, source_word, target_word):
        return self.links[source_word, target_word] / self.targets[target_word]

    def target_given_source(self, target_word, source_word):
        return self.links[source_word, target_word] / self.sources[source_word]


def lexical_weight(words, given, links, probability):
    """Product over words of the mean probability under the words they link to.

    links are pairs (index in words, index in given).
    """
    weight = 1.0
    for i, word in enumerate(words):
        partners = [given[g] for w, g in sorted(links) if w == i] or [None]
        weight *= sum(probability(word, p) for p in partners) / len(partners)
    return weight


def phrase_lines(pairs, alignments, lexicon):
    """Lines of the phrase table.

    The scores are phi(f|e) lex(f|e) phi(e|f) lex(e|f) and the counts those of
    e, of f and of both, where f is the source phrase and e the target phrase.
    """
    source_counts, target_counts = Counter(), Counter()
    for (source, target), count in pairs.items():
        source_counts[source] += count
        target_counts[target] += count
    for (source, target), joint in pairs.items():
        links = alignments[source, target]
        turned = [(t, s) for s, t in links]
        scores = (
            joint / target_counts[target],
            lexical_weight(source, target, links, lexicon.source_given_target),
            joint / source_counts[source],
            lexical_weight(target, source, turned, lexicon.target_given_source),
        )
        counts = target_counts[target], source_counts[source], joint
        yield (
            f"{' '.join(source)} ||| {' '.join(target)} ||| {numbers(scores)} ||| "
            f"{' '.join(f'{s}-{t}' for s, t in links)} ||| "
            f"{' '.join(map(str, counts))} ||| |||"
        )


def reordering_lines(reorderings):
    """Lines of the reordering table: backward M S D, then forward M S D."""
    for (source, target), directions in reorderings.items():
        scores = []
        for counts in directions:
            total = sum(counts) + 3 * REORDERING_SMOOTHING
            scores += [(count + REORDERING_SMOOTHING) / total for count in counts]
        yield f"{' '.join(source)} ||| {' '.join(target)} ||| {numbers(scores)}"


def numbers(values):
    return " ".join(f"{value:.6g}" for value in values)


# The language model -------------------------------------------------------


class LanguageModel:
    """Interpolated absolute discounting, written as a back-off model.

    With c the counts, D the discount of the order, T(h) the number of
    different words seen after the context h, and h' = h without its first
    word,

        p(w | h) = (c(h w) - D) / c(h) + b(h) p(w | h'),    b(h) = D T(h) / c(h),

    and below the unigrams a uniform distribution over the words, </s> and
    <unk>.  An n-gram never seen keeps the second term only, which is what
    back-off computes when b(h) is its weight.  The discount is the usual
    D = n1 / (n1 + 2 n2), with n1 and n2 the numbers of n-grams seen once and
    twice.  What is discounted is what b(h) gives away, so every p(. | h) sums
    to one.
    """

    def __init__(self, sentences):
        self.counts = [Counter() for _ in range(LM_ORDER + 1)]
        for sentence in sentences:
            words = ("<s>", *sentence, "</s>")
            for n in range(1, LM_ORDER + 1):
                for i in range(len(words) - n + 1):
                    self.counts[n][words[i : i + n]] += 1
        del self.counts[1][("<s>",)]  # it opens a sentence, it is never predicted

        self.discounts = [0.0]
        self.totals, self.types = Counter(), Counter()
        for counts in self.counts[1:]:
            times = Counter(counts.values())
            self.discounts.append(times[1] / (times[1] + 2 * times[2]))
            for ngram, count in counts.items():
                self.totals[ngram[:-1]] += count
                self.types[ngram[:-1]] += 1
        self.uniform = 1 / (len(self.counts[1]) + 1)  # one more for <unk>

        # What the file lists, order by order.
        self.ngrams = [sorted(counts) for counts in self.counts[1:]]
        self.ngrams[0][:0] = [("<unk>",), ("<s>",)]

    def backoff(self, context):
        return (
            self.discounts[len(context) + 1]
            * self.types[context]
            / self.totals[context]
        )

    def probability(self, ngram):
        """p(last word | the others), for a context that was seen."""
        if not ngram:
            return self.uniform
        n, context = len(ngram), ngram[:-1]
        seen = max(self.counts[n][ngram] - self.discounts[n], 0) / self.totals[context]
        return seen + self.backoff(context) * self.probability(ngram[1:])

    def arpa_lines(self):
        yield "\\data\\"
        for n, ngrams in enumerate(self.ngrams, start=1):
            yield f"ngram {n}={len(ngrams)}"
        for n, ngrams in enumerate(self.ngrams, start=1):
            yield ""
            yield f"\\{n}-grams:"
            for ngram in ngrams:
                # By custom -99 stands for the probability of <s>, which is 0.
                log = -99 if ngram == ("<s>",) else math.log10(self.probability(ngram))
                columns = [f"{log:.7g}", " ".join(ngram)]
                if n < LM_ORDER:
                    follows = ngram in self.totals
                    log = math.log10(self.backoff(ngram)) if follows else 0
                    columns.append(f"{log:.7g}")
                yield "\t".join(columns)
        yield ""
        yield "\\end\\"


# Output -------------------------------------------------------------------


def write(name, lines):
    text = "".join(line + "\n" for line in lines)
    (HERE / name).write_bytes(text.encode("utf-8"))


def c_sorted(lines):
    """In the order of `LC_ALL=C sort`: by the bytes of the whole line."""
    return sorted(lines, key=lambda line: line.encode("utf-8"))


def main():
    corpus = read_corpus()
    pairs, alignments, reorderings = extract(corpus)
    write("phrase-table", c_sorted(phrase_lines(pairs, alignments, Lexicon(corpus))))
    write("reordering-table", c_sorted(reordering_lines(reorderings)))

    spanish = [target for _, target, _ in corpus] + read_sentences("mono.es")
    model = LanguageModel(spanish)
    write("lm.arpa", model.arpa_lines())

    ngrams = " + ".join(str(len(ngrams)) for ngrams in model.ngrams)
    print(f"{len(corpus)} sentence pairs, {len(pairs)} phrase pairs, {ngrams} n-grams")


if __name__ == "__main__":
    main()
