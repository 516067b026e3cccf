// The feed of a project.
import { get, url } from "./http.js";
import { openStream, resumed } from "./sse.js";

export const listEvents = (project, after, pageSize = 50) =>
  get(`/v1/projects/${project}/events`, { after, pageSize });

/** Events after a position, for ever, across broken connections. */
export function watchEvents(project, after, options) {
  const open = (lastId) =>
    openStream(url(`/v1/projects/${project}/events:watch`, { after: lastId || after }), lastId, options.signal);
  return resumed(open, options);
}
