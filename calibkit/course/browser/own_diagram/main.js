// Where it begins; the page stands under a name that tests use.
import { OwnPage } from "./own_page.js";

export const own = new OwnPage();
