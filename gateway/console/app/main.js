// The page: what is at the place that the address names, inside the shell.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { html } from "./lib/html.js";
import { place } from "./lib/router.js";
import { useStore } from "./lib/store.js";
import { keyWanted } from "./api/key.js";
import { Shell } from "./parts/shell.js";
import { SessionPage } from "./parts/session_page.js";
import { KeyPage } from "./parts/key_page.js";
import { SessionsPage } from "./sessions/page.js";
import { DraftPage } from "./drafts/page.js";
import { DraftsPage } from "./drafts/list.js";
import { LedgerPage } from "./ledger/page.js";
import { FeedPage } from "./feed/page.js";
import { SystemPage } from "./feed/system.js";

function Page({ parts, query }) {
  const [first, id, view] = parts;
  if (first === "s" && id) return html`<${SessionPage} sessionId=${id} view=${view ?? "chat"} query=${query} />`;
  if (first === "d" && id) return html`<${DraftPage} key=${id} draftId=${id} />`;
  if (first === "drafts") return html`<${DraftsPage} />`;
  if (first === "ledger") return html`<${LedgerPage} key=${id} entryId=${id} />`;
  if (first === "feed") return html`<${FeedPage} project=${id ?? "default"} key=${id} />`;
  if (first === "system") return html`<${SystemPage} />`;
  if (first === "key") return html`<${KeyPage} />`;
  return html`<${SessionsPage} />`;
}

function App() {
  const { parts, query } = useStore(place);
  const wanted = useStore(keyWanted);
  useEffect(() => {
    // Whoever changes the place begins at its top, for a screen reader too.
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [parts.slice(0, 3).join("/")]);
  return html`<${Shell} parts=${parts}>
    ${wanted ? html`<${KeyPage} wanted=${true} />` : html`<${Page} parts=${parts} query=${query} />`}
  <//>`;
}

render(html`<${App} />`, document.getElementById("app"));
