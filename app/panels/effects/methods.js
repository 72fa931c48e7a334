// The methods that compute word effects: what they do to a word, and the limits of their numbers.

const HIDDEN =
  "Two words that say the same hide each other: without one the other still says it, and both have short bars";

/** @type {Record<string, { title: string, how: string, cannot: string }>} by the names in links and commands */
export const METHODS = {
  "taken-away": {
    title: "Combined: dropped and replaced",
    how: "the weighted mean of dropping the word, of frequent and related words in its place, and of nudging its vector",
    cannot: `${HIDDEN}. Where the parts disagree, look at each alone. It says which words this verdict depends on, not whether for a good reason.`,
  },
  dropped: {
    title: "Dropped",
    how: "the sentence without the word",
    cannot: `A sentence without a word is often one that nobody would write: a part of the effect is that of broken grammar. The only word of a sentence cannot be dropped. ${HIDDEN}.`,
  },
  replaced: {
    title: "Replaced by other words",
    how: "the mean over frequent words, the same for every word, and words from similar sentences in its place",
    cannot:
      "A word in its place has a meaning of its own. Where nearly any other word would change the verdict, as where two sentences have to agree, every word looks decisive; and a related word may mean nearly the same, or the opposite. The spread says how far the drawn words differ.",
  },
  "gradient-norm": {
    title: "Gradient norm",
    how: "the length of the gradient of log p of the verdict with respect to the word’s vector",
    cannot:
      "A length has no sign: it does not say whether the word supports the verdict or opposes it. It is the slope at this point alone: how the verdict would begin to change, not where it would go.",
  },
  "integrated-gradients": {
    title: "Integrated gradients",
    how: "the gradient along the path from vectors a thousandth as long to the word’s own, times their difference",
    cannot:
      "The bars add up to log p of the verdict minus that of vectors a thousandth as long, which are not words; nor are those on the path between, where the model’s choices (of phrases, of a window) stay those of this pair. Another baseline gives other bars.",
  },
  attention: {
    title: "Attention (baseline)",
    how: "the attention that the word receives, summed over all words that look at it",
    cannot:
      "What a word receives is not what it does: the decisive word is often the one that nothing in the other sentence matches, and it receives little.",
  },
};
