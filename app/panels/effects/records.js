// The data of the bars, from a record of effects.

// By role, one bar per word by this method: effect, spread, and the mean probability of the verdict without the word.
// In a mean of several methods, each is also known alone.
export function barsOf({ words, method: asked, labels, verdict }, method) {
  const target = labels.indexOf(verdict);
  const whole = ({ effect, spread, probabilities }) => [effect, spread, probabilities?.[target] ?? null];
  const alone = ({ by_way, spread_by_way }) => [by_way[method] ?? null, spread_by_way[method] ?? null, null];
  const known = method === asked || words.some(({ by_way }) => method in by_way);
  if (!known) return null;
  const roles = [...new Set(words.map(({ role }) => role))];
  const of = (role) => words.filter((word) => word.role === role);
  return Object.fromEntries(roles.map((role) => [role, of(role).map(method === asked ? whole : alone)]));
}
