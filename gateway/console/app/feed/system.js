// Whether all is well: health, versions, key figures. By the public API alone.
import { html } from "../lib/html.js";
import { number } from "../lib/format.js";
import { useLoaded, useTitle } from "../lib/hooks.js";
import { get, send } from "../api/http.js";
import { ApiError } from "../api/errors.js";
import { listDrafts, listStaged } from "../api/drafts.js";
import { listEvents } from "../api/events.js";
import { listProjects, listSessions } from "../api/sessions.js";
import { Loaded } from "../parts/notice.js";

const MANY = 100;

async function health() {
  const started = performance.now();
  try {
    const answer = await (await send("/readyz")).json();
    return { ready: true, absent: answer.absent ?? [], ms: performance.now() - started };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ready: false, absent: Object.keys(error.metadata), message: error.message };
  }
}

/** A count, or "100+": the API lists, it does not count. */
function counted(list, more) {
  return more || list.length > MANY ? `${MANY}+` : number(list.length);
}

async function figures() {
  const [projects, sessions, waiting, drafts, feed] = await Promise.all([
    listProjects(),
    listSessions({ pageSize: MANY }),
    listStaged({ projectId: "default", state: "STAGED_WRITE_STATE_STAGED", pageSize: MANY }),
    listDrafts({ state: "DRAFT_STATE_ACTIVE" }),
    listEvents("default", 0, 1),
  ]);
  return [
    ["Conversations", counted(sessions.sessions, sessions.nextPageToken)],
    ["Projects", counted(projects.projects, projects.nextPageToken)],
    ["Entries waiting", counted(waiting.stagedWrites, waiting.nextPageToken)],
    ["Active drafts", counted(drafts.drafts, drafts.nextPageToken)],
    ["Events so far", number(feed.lastPosition)],
  ];
}

async function versions() {
  const [document, config] = await Promise.all([get("/openapi.json"), get("/v1/projects/default/effectiveConfig")]);
  return { document, config };
}

export function SystemPage() {
  const up = useLoaded(health, []);
  const sums = useLoaded(figures, []);
  const about = useLoaded(versions, []);
  useTitle("System");
  return html`<div class="page">
    <header class="page-head">
      <h1>System</h1>
      <button type="button" onClick=${() => (up.reload(), sums.reload())}>Look again</button>
    </header>
    <section aria-label="Health"><${Loaded} of=${up}>${(value) => html`<${Health} ...${value} />`}<//></section>
    <section aria-label="Key figures">
      <h2>Key figures</h2>
      <${Loaded} of=${sums}>
        ${(found) => html`<dl class="figures">${found.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`}
      <//>
    </section>
    <section aria-label="Versions">
      <h2>Versions</h2>
      <${Loaded} of=${about}>${(value) => html`<${About} ...${value} />`}<//>
    </section>
  </div>`;
}

function Health({ ready, absent, message, ms }) {
  return html`<ul class="health">
    <li class=${ready ? "good" : "bad"}>${ready ? "Conversation service is serving" : message}</li>
    <li class=${absent.length ? "bad" : "good"}>${absent.length ? `Not serving: ${absent.join(", ")}` : "Draft service is serving"}</li>
    ${ms !== undefined && html`<li class="good">The gateway answered in ${Math.round(ms)} ms</li>`}
  </ul>`;
}

function About({ document, config }) {
  const { model } = config.config;
  return html`<dl class="pairs">
    <div><dt>API</dt><dd>${document.info.title} ${document.info.version}, ${number(Object.keys(document.paths).length)} paths · <a href="/openapi.json">OpenAPI</a></dd></div>
    <div><dt>Model of the default project</dt><dd>${[model?.provider, model?.name].filter(Boolean).join(" · ") || "the server’s default"}</dd></div>
    <div><dt>Configuration version</dt><dd><code>${config.version}</code></dd></div>
  </dl>`;
}
