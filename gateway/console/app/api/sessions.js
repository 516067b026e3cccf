// Projects, sessions, files.
import { get, newId, patch, post, remove, send, url } from "./http.js";
import { ApiError, errorOf, networkError } from "./errors.js";
import { authorization } from "./key.js";

export const listProjects = (token) => get("/v1/projects", { pageSize: 100, pageToken: token });
export const getProject = (id) => get(`/v1/projects/${id}`).then((answer) => answer.project);

export const listSessions = ({ project, state, token, pageSize = 50 }) =>
  get("/v1/sessions", { projectId: project, state, pageSize, pageToken: token });
export const getSession = (id, signal) => get(`/v1/sessions/${id}`, {}, signal).then((answer) => answer.session);
export const createSession = (body) => post("/v1/sessions", body).then((answer) => answer.session);
export const archiveSession = (id) => post(`/v1/sessions/${id}:archive`);
export const restoreSession = (id) => post(`/v1/sessions/${id}:restore`);
export const deleteSession = (id) => remove(`/v1/sessions/${id}`);
export const forkSession = (id, floorId, title) => post(`/v1/sessions/${id}:fork`, { floorId, title });
export const renameSession = (session, title) =>
  patch(`/v1/sessions/${session.sessionId}`, {
    title,
    expectedVersion: session.version,
    updateMask: "title",
  }).then((answer) => answer.session);

export const searchMessages = (query, { project, session, token } = {}, signal) =>
  get(
    "/v1/messages:search",
    { query, projectId: project, sessionId: session, scope: "SEARCH_SCOPE_ALL", pageToken: token },
    signal,
  );

/** Downloads a session as a file, by way of memory: a link could not carry the key. */
export async function exportSession(id, format, title) {
  const response = await send(url(`/v1/sessions/${id}/export`, { format }), { headers: { accept: "*/*" } });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  const type = format === "log-jsonl" || format === "oasst" ? "jsonl" : "json";
  const name = (title || "conversation").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
  link.download = nameIn(response.headers.get("content-disposition")) || `${name}.${format}.${type}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function nameIn(disposition) {
  return /filename="([^"]+)"/.exec(disposition ?? "")?.[1] ?? "";
}

/**
 * Imports a file: the results of its conversations. `onProgress` gets the part that is sent, 0 to 1 (XMLHttpRequest,
 * because fetch does not tell). The same `requestId` with the same file goes on where it was cut.
 */
export function importFile(file, { format, project, requestId = newId(), onProgress, signal }) {
  const target = url("/v1/sessions:import", { format, fileName: file.name, projectId: project, requestId });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", target);
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total);
    request.onerror = () => reject(networkError());
    request.onabort = () => reject(new ApiError({ reason: "CANCELLED", message: "The import was stopped." }));
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status === 200) resolve(body.results);
      else reject(errorOf(body, request.status));
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
