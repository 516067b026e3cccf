// The one place that binds htm to preact; everything is built from text nodes, never from markup in strings.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
