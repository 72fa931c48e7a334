// What the server answers to a phone.

export interface Class {
  /** What is sent. */
  name: string;
  /** What is shown. */
  title: string;
  /** In the light and the dark theme. */
  colours?: [string, string];
}

export interface Count {
  value: string;
  title: string;
  count: number;
}

interface Asked {
  id: number;
  roles: [string, string];
  first: string;
  second: string;
  classes: Class[];
}

/** A word of the text `side`; its class guesses the word of the other text that it looks at. */
export interface AskedWord {
  side: 0 | 1;
  index: number;
  tokens: [string[], string[]];
}

/** `value`s are names of classes, or positions of words. */
export interface Revealed {
  counts: Count[];
  answer: string;
  chance: number | null;
  people: string;
}

export interface Guess extends Asked {
  kind: "guess";
  word: AskedWord | null;
  mine: string;
  revealed: Revealed | null;
}

export type Status = "right" | "checking" | "agreed" | "disputed" | "removed";

export interface Sent {
  id: number;
  first: string;
  second: string;
  label: string;
  verdict: string;
  chance: number;
  fooled: boolean;
  sentence: string;
  status: Status;
}

export interface Check {
  pair: number;
  first: string;
  second: string;
}

export interface Break extends Asked {
  kind: "break";
  check: Check | null;
  pairs: Sent[];
}

/** `before`, `after`: how many of the pairs `held_back` are right. */
export interface Result {
  taught: number;
  held_back: number;
  before: number;
  after: number;
  suites: string;
}

export interface Teach extends Asked {
  kind: "teach";
  result: Result | null;
}

export type Round = Guess | Break | Teach;

export type State =
  | { phase: "code"; error: string }
  | { room: string; phase: "closed" }
  | { room: string; phase: "join"; needs_word: boolean }
  | { room: string; phase: "open"; nickname: string; muted: boolean; round: Round | null };

/** What a phone shows in one phase, or in one round; `update` gets it when it may have changed. */
export interface View<T> {
  element: HTMLElement;
  update(now: T): void;
}
