// The methods that compute word effects: what they do to a word, and the limits of their numbers.

const HIDDEN =
  "Two words with the same meaning hide each other: without one the other still carries it, and both have short bars";

/** @type {Record<string, { title: string, how: string, cannot: string }>} by the names in links and commands */
export const METHODS = {
  "taken-away": {
    title: "Combined: dropped and replaced",
    how: "the weighted mean of dropping the word, of frequent and related words in its place, and of nudging its vector",
    cannot: `${HIDDEN}. Where the parts disagree, look at each alone. It shows which words the verdict depends on, not whether for a good reason.`,
  },
  dropped: {
    title: "Dropped",
    how: "the sentence without the word",
    cannot: `A sentence without a word is often one that nobody would write: part of the effect comes from broken grammar. The only word of a sentence cannot be dropped. ${HIDDEN}.`,
  },
  replaced: {
    title: "Replaced by other words",
    how: "the mean over frequent words, the same for every word, and words from similar sentences in its place",
    cannot:
      "A replacement has a meaning of its own. If nearly any other word would change the verdict, as when two sentences have to agree, every word looks decisive; and a related word may mean nearly the same, or the opposite. The spread shows how far the replacements differ.",
  },
  "gradient-norm": {
    title: "Gradient norm",
    how: "the norm of the gradient of log p of the verdict with respect to the word’s vector",
    cannot:
      "A norm has no sign: it does not show whether the word supports the verdict or opposes it. It is the slope at this point only: how the verdict would begin to change, not where it would end up.",
  },
  "integrated-gradients": {
    title: "Integrated gradients",
    how: "the gradient along the path from vectors a thousandth as long to the word’s own, times their difference",
    cannot:
      "The bars add up to log p of the verdict minus that of vectors a thousandth as long, which are not words; nor are those on the path between, where the model’s choices (of phrases, of a window) stay those of this pair. Another baseline gives different bars.",
  },
  attention: {
    title: "Attention (baseline)",
    how: "the attention that the word receives, summed over all words that attend to it",
    cannot:
      "The attention that a word receives is not its effect: the decisive word is often one without a match in the other sentence, and it receives little.",
  },
};
