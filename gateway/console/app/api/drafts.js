// Drafts, and the ledger that their exports land in.
import { get, post } from "./http.js";

export const listDrafts = (query) => get("/v1/drafts", { pageSize: 100, ...query });
export const getDraft = (id) => get(`/v1/drafts/${id}`).then((answer) => answer.draft);
export const createDraft = (source, body) =>
  post(source.session ? `/v1/sessions/${source.session}/drafts` : `/v1/projects/${source.project}/drafts`, body);
export const getTranscript = (id, query, signal) => get(`/v1/drafts/${id}/transcript`, query, signal);
export const getDraftTree = (id, token) => get(`/v1/drafts/${id}/tree`, { pageSize: 1000, pageToken: token });
export const endDraft = (id, verb, reason) => post(`/v1/drafts/${id}:${verb}`, reason ? { reason } : {});
export const exportDraft = (id, body) => post(`/v1/drafts/${id}:export`, body);
export const listProposals = (id) => get(`/v1/drafts/${id}/proposals`, { pageSize: 100 });

export const listStaged = (query) => get("/v1/stagedWrites", { pageSize: 50, ...query });
export const previewStaged = (id) => get(`/v1/stagedWrites/${id}:preview`);
export const getStaged = (id) => get(`/v1/stagedWrites/${id}`).then((answer) => answer.stagedWrite);
export const decideStaged = (id, verb, body) => post(`/v1/stagedWrites/${id}:${verb}`, body);
