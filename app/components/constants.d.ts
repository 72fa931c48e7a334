// What app/components/bundle.py gives the scripts from Python.

/** Where the server's API is (app/api). */
export const API: string;
/** Colours of a scale of shares, from 0 to 1. */
export const CIVIDIS: string[];
/** Colours of a scale around 0. */
export const DIVERGING: string[];
/** The page's ground in the light theme and in the dark one. */
export const PAPER: string[];
/** Where the server has all other scripts (app/api/scripts.py). */
export const SCRIPTS: string;
/** The style sheet of all drawings. */
export const STYLE: string;
