// What stands below a pair's drawing comes once the drawing is on screen.

import { Channel } from "./channel.js";
import { VIEWS } from "./view.js";

export const BELOW = new Channel();

VIEWS.below = () => BELOW;
