// The theme: the system's, light or dark.
import { preference } from "./store.js";

export const theme = preference("theme", ["auto", "light", "dark"]);

const apply = (name) => { document.documentElement.dataset.theme = name; };
theme.follow(apply);
apply(theme.get());
