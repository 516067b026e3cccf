// A session's tree: reading paths and floors, moving heads, branches.
import { get, post, remove } from "./http.js";

export const listPath = (session, query, signal) => get(`/v1/sessions/${session}/path`, query, signal);
export const getTree = (session, token, signal) =>
  get(`/v1/sessions/${session}/tree`, { pageSize: 5000, pageToken: token }, signal);
export const getFloor = (id, signal) => get(`/v1/floors/${id}`, {}, signal);
export const listSiblings = (id, branch) => get(`/v1/floors/${id}/siblings`, { branch, pageSize: 100 });
export const listPages = (id) => get(`/v1/floors/${id}/pages`, { pageSize: 100 });
export const listBranches = (session) => everything(`/v1/sessions/${session}/branches`, "branches");
export const listMoves = (session, branch, token) =>
  get(`/v1/sessions/${session}/branches/${branch}/moves`, { pageSize: 20, pageToken: token });

export const moveHead = (session, branch, body) =>
  post(`/v1/sessions/${session}/branches/${branch}:moveHead`, body);
export const selectSibling = (session, branch, body) =>
  post(`/v1/sessions/${session}/branches/${branch}:selectSibling`, body);
export const createBranch = (session, name, floorId) =>
  post(`/v1/sessions/${session}/branches`, { name, floorId });
export const deleteBranch = (session, name) => remove(`/v1/sessions/${session}/branches/${name}`);
export const commitFloor = (id, body) => post(`/v1/floors/${id}:commit`, body);
export const abandonFloor = (id, reason) => post(`/v1/floors/${id}:abandon`, { reason });
export const regenerateFloor = (id, body) => post(`/v1/floors/${id}:regenerate`, body);

/** Every page of a list, in order. For lists that people make by hand. */
export async function everything(path, field, query = {}) {
  const found = [];
  let pageToken = "";
  do {
    const answer = await get(path, { ...query, pageSize: 100, pageToken });
    found.push(...answer[field]);
    pageToken = answer.nextPageToken;
  } while (pageToken);
  return found;
}
