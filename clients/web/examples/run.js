// The story outside a browser: `node run.js http://127.0.0.1:8080`. STEMMA_API_KEY is sent if it is set.
import { Stemma } from "../stemma.js";
import { story } from "./story.js";

const base = process.argv[2] ?? "http://127.0.0.1:8080";
await story(new Stemma({ base, apiKey: process.env.STEMMA_API_KEY ?? "" }), console.log);
