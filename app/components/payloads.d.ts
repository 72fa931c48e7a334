// What app/components/__init__.py gives the scripts. Written by `python -m tests.app.payload_types`.

// app.panels
export interface Drawing {
  sides: Array<DrawnSide>;
  verdict: Verdict;
  panels: Array<DrawnPanel>;
}

// app.panels
export interface DrawnSide {
  role: string;
  tokens: Array<string>;
  unknown: Array<number>;
  truncated: number;
  lines: Array<number>;
  axis: string;
  judged: boolean;
  read: boolean;
  negatable: Array<number>;
}

// app.panels.verdict
export interface Verdict {
  label: string;
  classes: Array<Share>;
  model: string;
  alone: Beside | null;
  trained: Array<Share> | null;
  what_if: string;
  meaning: string;
  gold: Gold | null;
  pinned: any;
}

// app.panels.verdict
export interface Share {
  label: string;
  p: number;
  light: string;
  dark: string;
  score: boolean;
  said: string;
  apart: boolean;
}

// app.panels.verdict
export interface Beside {
  label: string;
  p: number;
  model: string;
  judged: string;
  said: string;
}

// app.examples
export interface Gold {
  label: string;
  source: string;
}

// app.panels
export interface DrawnPanel {
  kind: string;
  place: "first" | "main" | "beside" | "changes" | "below";
  data: any;
}

// app.components
export interface PairFrame {
  footer: Array<string>;
  notices: Array<string>;
  link: Record<string, string> | null;
  projector: boolean;
  about: About | null;
  agreement: AgreementLine | null;
}

// app.components
export interface About {
  file: string;
  lines: Array<string>;
}

// app.models.card
export interface AgreementLine {
  rows: string;
  text: string;
}

// app.panels.phrase_selection
export interface Phrases {
  model: string;
  sides: Array<PhraseWords>;
  classes: Array<Share>;
  trained: Trained;
  choices: Record<string, Array<Choice | null>>;
  full: Array<number> | null;
  readings: Array<string>;
  gold: Gold | null;
}

// app.panels.phrase_selection
export interface PhraseWords {
  role: string;
  tokens: Array<string>;
  unknown: Array<number>;
  truncated: number;
  lines: Array<number>;
  phrases: Array<Array<number | null>>;
}

// app.panels.phrase_selection
export interface Trained {
  pooling: string;
  k: number;
}

// app.panels.phrase_selection
export interface Choice {
  kept: Array<Array<number>>;
  p: Array<number>;
}

// app.panels.phrase_selection
export interface ComparedModels {
  models: Array<ModelVerdict>;
}

// app.panels.phrase_selection
export interface ModelVerdict {
  name: string;
  title: string;
  how: string;
  classes: Array<Share>;
  shown: boolean;
}

// app.compare.figures
export interface ComparedSections {
  sections: Array<Section>;
  high: number;
}

// app.compare.figures
export interface Section {
  title: string;
  problem: string;
  verdict: Verdict | null;
  facts: Array<string>;
  sentences: Array<MarkedWords>;
  pooled: Array<PooledWords>;
  matrix: DrawnMatrix | null;
  read: Array<SideWords>;
  followed: string;
  about: About | null;
}

// app.compare.figures
export interface MarkedWords {
  words: Array<string>;
  marked: Array<number>;
}

// app.compare.figures
export interface PooledWords {
  role: string;
  words: Array<string>;
  shares: Array<number>;
}

// app.compare.figures
export interface DrawnMatrix {
  rows: string;
  columns: string;
  words: [Array<string>, Array<string>];
  weights: Array<Array<number>>;
  none: Array<number> | null;
  none_word: string;
}

// app.compare.figures
export interface SideWords {
  role: string;
  words: Array<string>;
}

// app.compare.figures
export interface Differences {
  hint: string;
  differences: Array<DrawnDifference>;
  furthest: number;
  agreement: Agreement | null;
}

// app.compare.figures
export interface DrawnDifference {
  titles: [string, string];
  mean: number;
  about: About;
  matrix: DrawnMatrix;
}

// app.compare.figures
export interface Agreement {
  heads: Array<string>;
  rows: Array<string>;
  values: Array<Array<number | null>>;
  about: About;
}

// app.components
export interface Frame {
  footer: Array<string>;
  notices: Array<string>;
  link: Record<string, string> | null;
  projector: boolean;
}

// app.lessons.drawing
export interface DrawnLesson {
  title: string;
  about: string;
  steps: Array<DrawnStep>;
  lines: Array<Line>;
  given: Array<Line>;
  words: Record<string, Array<string>>;
  values: Record<string, Value>;
  inputs: Array<string>;
  texts: Record<string, string>;
}

// app.lessons.drawing
export interface DrawnStep {
  title: string;
  says: string;
  note: string;
  lit: Array<string>;
  guess: string;
  formula: any;
  numbers: Array<any>;
  opens: string;
}

// app.lessons.drawing
export interface Line {
  label: string;
  rows: Array<Row>;
}

// core.lessons.lesson
export interface Row {
  value: string;
  label: string;
  of: string;
  shape: "cells" | "bars" | "rows";
  made_of: Array<string>;
}

// app.lessons.drawing
export interface Value {
  number: any;
  text: any;
}

// app.filter_map.drawing
export interface MapDrawing {
  classes: Array<MapClass>;
  names: Array<ClassName>;
  reading: string;
  quality: string;
  meaning: string;
}

// app.filter_map.drawing
export interface MapClass {
  x: Array<number>;
  y: Array<number>;
  name: string;
  colour: string;
  symbol: string;
  labels: Array<[string, string, string]>;
}

// app.filter_map.drawing
export interface ClassName {
  text: string;
  x: number;
  y: number;
}

// app.filter_map.drawing
export interface Yours {
  stars: Array<DrawnStar>;
  trails: Array<Trail>;
  pairs: Array<Array<[number, number]>>;
  rings: Points;
  home: [[number, number], [number, number]];
  near: boolean;
}

// app.filter_map.drawing
export interface DrawnStar {
  badge: string;
  x: number;
  y: number;
  earlier: boolean;
  label: [string, string, string];
  looked: boolean;
  second: boolean;
}

// app.filter_map.drawing
export interface Trail {
  before: [number, number];
  after: [number, number];
  looked: boolean;
}

// app.filter_map.drawing
export interface Points {
  x: Array<number>;
  y: Array<number>;
}

// app.panels.generated_filters.one_filter
export interface Heatmap {
  filter: number;
  rows: Array<string>;
  values: Array<Array<number>>;
  top: number;
  reading: string;
}

// app.models.table
export interface Table {
  models: Array<ModelRow>;
}

// app.models.table
export interface ModelRow {
  name: string;
  cells: Record<string, Cell>;
}

// app.models.table
export interface Cell {
  text: string;
  by: string | number | null;
  note: string;
}

// app.explore.pairs_tried
export interface Tried {
  name: string;
  model: string;
  texts: [string, string];
  label: string;
  p: number;
  change: string;
  said: string;
}

// app.panels.attentive_context
export interface Contexts {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  weights: Array<Array<number>>;
  unknown: Array<string | null>;
  why: string;
}

// app.panels.filter_provenance
export interface Filters {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  sides: Array<SideFilters>;
  shares: boolean;
  rest: Array<[string, Array<number>]>;
  bias: Array<number>;
  logits: Array<number>;
}

// app.panels.filter_provenance
export interface SideFilters {
  role: string;
  made_from: string;
  activation: string;
  parts: Array<string>;
  wins: Array<number>;
  beside: Array<number | null>;
  filters: Array<Array<number>>;
}

// app.panels.attention_heads
export interface Heads {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  head: string;
  layers: number;
  heads: number;
  blocks: number;
  looking: [HeadsLooking, HeadsLooking];
  title: string;
  beside: Array<[string, string]>;
  own: string;
  measured: string;
  about: string;
}

// app.panels.attention_heads
export interface HeadsLooking {
  role: string;
  other: string;
  across: Array<Array<number>>;
  shades: string;
}

// app.panels.phrase_selection
export interface Kept {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  k: number;
  trained: string;
  sides: Array<KeptSide>;
}

// app.panels.phrase_selection
export interface KeptSide {
  role: string;
  kmin: Array<[number, number]>;
  kmax: Array<[number, number]>;
}

// app.panels.pooled_attention
export interface Pooled {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  name: string;
  sides: Array<PooledSide>;
  shares: boolean;
}

// app.panels.pooled_attention
export interface PooledSide {
  role: string;
  weights: Array<number>;
  high: number;
}

// app.panels.attention_map
export interface WindowMap {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  units: string;
  width: number;
  lines: Array<Array<number | null>>;
}

// app.panels.attention_map
export interface WordMap {
  rows: string | null;
  columns: string | null;
  show: string | null;
  lead: number | null;
  units: string;
  weights: Array<Array<number>>;
  scores: Array<Array<number>>;
  none: NullWord | null;
  apart: boolean;
  crossed: Array<Array<number>> | null;
  crossings: Array<number | null> | null;
  of: string;
  stays: string;
}

// app.panels.attention_map
export interface NullWord {
  word: string;
  weights: Array<number | null>;
  scores: Array<number | null>;
}

export interface Drawn {
  pair: Drawing & PairFrame;
  phrases: Phrases & ComparedModels & PairFrame;
  compare: ComparedSections & Differences & Frame;
  lesson: DrawnLesson & Frame;
  filterMap: MapDrawing & Yours & Frame;
  filterWeights: Heatmap & Frame;
  models: Table & Frame;
}
