// What a model is or was sent, and the state at a floor.
import { get, send } from "./http.js";

/** A dry run is a read: it has no request id. */
export async function assembleContext(session, body, signal) {
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", body: JSON.stringify(body), headers, signal };
  return (await send(`/v1/sessions/${session}:assembleContext`, options)).json();
}

export async function diffContexts(leftFloorId, rightFloorId) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ leftFloorId, rightFloorId });
  return (await send("/v1/contexts:diff", { method: "POST", body, headers })).json();
}

export const explainFloor = (id, signal) => get(`/v1/floors/${id}/explanation`, {}, signal);
export const getState = (session, query, signal) => get(`/v1/sessions/${session}/state`, query, signal);
export const effectiveConfig = (session) => get(`/v1/sessions/${session}/effectiveConfig`);
