// What the matrix of cut links draws of a record of their effects.

// As numpy.quantile: linear between the two nearest values.
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

// Cells in the top tenth of one matrix and in the lower half of the other. What many share is neither.
function highAndLow(one, other) {
  const [top, middle] = [quantile(one.flat(), 0.9), quantile(one.flat(), 0.5)];
  const half = quantile(other.flat(), 0.5);
  return one.flatMap((row, i) =>
    row.flatMap((value, j) => (value >= top && value > middle && other[i][j] <= half ? [[i, j]] : [])),
  );
}

// `heavy`: cells with much weight and little effect; `telling`: with little weight and much effect. Where some were not
// cut, those that were have the largest weights.
export function disagreeing({ before, effects }) {
  if (effects.flat().includes(null)) return { heavy: [], telling: [] };
  const sizes = effects.map((row) => row.map(Math.abs));
  return { heavy: highAndLow(before, sizes), telling: highAndLow(sizes, before) };
}

// A map of link effects with its `values`, on a scale to `high` either way.
export function linkMap(links) {
  const { effects } = links;
  return {
    layer: 0,
    ...links,
    ...disagreeing(links),
    values: effects,
    high: Math.max(0, ...effects.flat().map((effect) => Math.abs(effect ?? 0))),
  };
}
