// Numbers and names in sentences; like core/wording.py.

// With as many digits as a share needs: 46 %, 4.6 %, 99.6 %, < 0.1 %; the rule of `percent` in core/wording.py.
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1\u00a0%";
  if (value > 99.9 && value < 100) return "> 99.9\u00a0%";
  const digits = (value < 9.95 && value > 0) || (value >= 99.5 && value < 100) ? 1 : 0;
  return `${value.toFixed(digits)}\u00a0%`;
}

export function exactPercent(share) {
  const value = Number((100 * share).toPrecision(4));
  return value === 100 && share < 1 ? percent(share) : `${value}\u00a0%`;
}

// A signed number with a true minus sign; `digits` after the point.
export function signed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "\u2212" : "+") + text;
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// A role in a sentence: "the premise", but "question 2", which is a name.
export const the = (role) => (/\d$/.test(role) ? role : `the ${role}`);
export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
export const shorten = (text, limit) =>
  Array.from(text).length > limit
    ? Array.from(text)
        .slice(0, limit - 1)
        .join("") + "…"
    : text;
