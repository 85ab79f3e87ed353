// Where it begins; the page stands under a name that tests use.
import { Game } from "./game.js";

export const game = new Game(JSON.parse(document.getElementById("sets").textContent));
