// Everything goes to the recorder in the order in which it happened.
import { current } from "./session.js";

const TRIES = 8;
const PAUSE_MS = 250;
let last = Promise.resolve();

export class RefusedError extends Error {}

export const get = async (session, path, signal) => {
  const headers = { Authorization: `Bearer ${session.token}` };
  const response = await fetch(session.url + path, { headers, signal, cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return signal ? response : response.json();
};

export const deliver = (path, message) => {
  const done = last.then(() => post(path, message));
  last = done.catch(() => {});
  return done;
};

export const allDelivered = () => last;

export const post = async (path, message) => {
  // A recorder reads JSON strictly: half a character is no character.
  const body = JSON.stringify(message, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
  for (let attempt = 1; ; attempt++) {
    const session = current();
    if (!session) throw new RefusedError("not recording");
    try {
      const response = await fetch(session.url + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${session.token}`, "Content-Type": "application/json" },
        body,
      });
      if (!response.ok) throw await refusal(response);
      return await response.json();
    } catch (error) {
      if (error instanceof RefusedError || session.lost || attempt === TRIES) throw error;
    }
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
};

const refusal = async (response) => {
  const { error } = await response.json().catch(() => ({}));
  return new RefusedError(error ?? `the recorder answered ${response.status}`);
};
