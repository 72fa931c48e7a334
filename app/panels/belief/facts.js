// A record of faithfulness in numbers and sentences: the meaning, the source and the limits of each number.

import { percent, signed, the } from "../../components/elements.js";

const MUCH = 0.1; // nats of divergence below which adversarial attention hardly differs

// A difference of two percentages, worded as in core/wording.py.
function points(difference) {
  const number = percent(Math.abs(difference)).replace("\u00a0%", "");
  return `${number} percentage ${number === "1.0" ? "point" : "points"}`;
}

// Every method's erasure curves, best first, with those of random orders.
export function methodsOf({ curves, titles, steps: at }) {
  const method = (title, { sufficiency, comprehensiveness, aopc: [left, taken] }) => {
    const steps = at.map(
      (step, i) => `${step}: ${signed(sufficiency[i], 2)} with these alone, ${signed(comprehensiveness[i], 2)} without`,
    );
    return { title, left, taken, steps };
  };
  const methods = Object.entries(titles).map(([name, title]) => method(title, curves[name]));
  methods.sort((a, b) => b.taken - a.taken);
  return { methods, random: method("Random orders", curves.random) };
}

/**
 * All facts next to the figure. `names`: the display names of the classes.
 * @param {any} record
 * @param {string[]} names
 */
export function factsOf(record, names) {
  const { named, moved, tau_b, adversary } = record;
  const facts = [
    named && ofNamed(named),
    moved && ofPermutations(moved),
    moved && ofUniform(record, names),
    tau_b.some((tau) => tau !== null) && ofTau(record),
    adversary && ofAdversary(record, names),
    !adversary && tau_b.length && NOT_MOVED,
  ];
  return facts.filter(Boolean);
}

const NOT_MOVED = {
  name: "Moving attention",
  says: "does not apply: this model’s maps hold scores.",
  more: "Scores, which a choice or a pooling follows, are not shares of a whole, so there is nothing to shuffle or to make uniform. “What each link does” cuts single cells of such a map.",
};

const ofNamed = ([hits, of]) => ({
  name: "Words named",
  says: `${hits} of the ${of} words with the largest effect are among the ${of} most attended.`,
  more: `An effect is how much the verdict drops without the word (the line under it); a word is attended by the weight that it receives, summed over all rows. After Jain & Wallace (2019, section 4.1), who compare whole orders. What it cannot tell: with ${of} words, one hit more or less may be chance; and the least attended word can be the decisive one, because nothing in the other text answers it.`,
});

const ofPermutations = ({ changed, permutations, total_variation: variation }) => ({
  name: "Permuted attention",
  says: `The verdict changes in ${changed} of ${permutations} permutations; on average the class probabilities move by ${points(variation)} (total variation).`,
  more: `The weights of each row, the null word’s among them, are shuffled over the cells that the model could use, in all maps at once, ${permutations} times with a fixed seed (Jain & Wallace 2019, section 4.2.1). What it cannot tell: that nothing changes does not say that the attention is wrong, only that this verdict does not depend on where words look, and for a contradiction not even that, since wrongly aligned words themselves speak for it; and the model was not trained with permuted rows, so a change may be damage and not meaning (Wiegreffe & Pinter 2019).`,
});

function ofUniform({ moved: { uniform }, probabilities }, names) {
  const best = (values) => values.indexOf(Math.max(...values));
  const [now, before] = [best(uniform), best(probabilities)];
  return {
    name: "Uniform attention",
    says: `gives ${names[now]} ${percent(uniform[now])}, ${now === before ? "the same" : "another"} verdict.`,
    more: "Every cell that the model could use gets the same weight. Wiegreffe & Pinter (2019, section 3.2) train a model with such weights; here the trained model gets them, which is harder on it. What it cannot tell: the same verdict means that attention is not needed for this pair, not that it is not needed for any.",
  };
}

function ofTau({ tau_b, maps }) {
  const where = ({ rows, columns }) => ` (${the(rows)} into ${the(columns)})`;
  const known = tau_b.flatMap((tau, i) =>
    tau === null ? [] : [`τ-b ${signed(tau, 2)}${maps.length > 1 ? where(maps[i]) : ""}`],
  );
  return {
    name: "Weight against effect",
    says: `${known.join(", ")} between the weight of a link and the size of its effect, over all links.`,
    more: "Kendall’s τ-b is 1 where both orders are the same, 0 where they have nothing in common, −1 where one is the other reversed. The effect of a link is log p of the verdict before minus after its cell is set to 0 and the rest of its row is renormalised. Jain & Wallace (2019, section 4.1) correlate attention with gradients and with leaving words out. What it cannot tell: most links weigh next to nothing and do next to nothing, which alone makes τ-b large; it does not say that the heaviest link is the most telling one.",
  };
}

function ofAdversary({ adversary, labels, verdict, probabilities, largest_change: largest }, names) {
  const most = Math.log(2).toFixed(2);
  const name = "An adversary";
  const more = `Other rows are searched that lie as far as possible from the model’s, by the mean Jensen–Shannon divergence (0: the same, ${most}: no weight in common), while no more than ${percent(largest)} of probability moves between the classes; the matrix that is shown was put into the model and checked. By gradients from five starts for at most 3 seconds (Jain & Wallace 2019, section 4.2.2). What it cannot tell: a search that finds nothing proves nothing, and a faster machine may find more. Attention that no training would have brought about is a weak case against the one that it did (Wiegreffe & Pinter 2019).`;
  const { maps, divergence, total_variation: variation, probabilities: under } = adversary;
  if (!maps.length)
    return { name, says: "None was found: all other attention that was tried changes the answer.", more };
  const target = labels.indexOf(verdict);
  const [before, after] = [percent(probabilities[target]), percent(under[target])];
  const stays = `${names[target]} ${after} instead of ${before}, ${variation.toFixed(3)} of probability moved`;
  const says =
    divergence < MUCH
      ? `No other attention was found with this answer: the farthest lies ${divergence.toFixed(3)} of at most ${most} nats from the model’s (${stays}).`
      : `Attention ${divergence.toFixed(2)} of at most ${most} nats from the model’s gives the same: ${stays}.`;
  return { name, says, more };
}
