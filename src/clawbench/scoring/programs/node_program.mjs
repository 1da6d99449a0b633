// Reports what node:test finds over descriptor 3. Loaded twice into the process of one test file, as the same
// module: first with --import, before any tested code, then as its --test-reporter.

import assert from "node:assert";
import fs from "node:fs";
import * as testing from "node:test";

const CHANNEL = 3;
const NONCE_BYTES = 32;
const { writeSync } = fs;
const { stringify } = JSON;
const names = process.argv.slice(2);
const nonce = readNonce();
let reporters = 0;

function readNonce() {
  const buffer = Buffer.alloc(NONCE_BYTES);
  let filled = 0;
  while (filled < NONCE_BYTES) {
    const count = fs.readSync(CHANNEL, buffer, filled, NONCE_BYTES - filled, null);
    if (count === 0) throw new Error("the channel ended before the nonce did");
    filled += count;
  }
  return buffer.toString();
}

function send(frame) {
  writeSync(CHANNEL, `${nonce} ${stringify(frame)}\n`);
}

// The tested code shares this process: what the tests rely on must stay as it is.
for (const part of [assert, assert.strict, assert.AssertionError, assert.AssertionError.prototype, testing.default]) {
  Object.freeze(part);
}
process.argv.length = 2;
process.execArgv.length = 0;
send({ hello: process.version });

function statusOf(type, data) {
  if (type === "test:fail") return "failed";
  if (data.skip !== undefined && data.skip !== false) return "skipped";
  if (data.todo !== undefined && data.todo !== false) return "todo";
  return "passed";
}

function detailOf(data) {
  const error = data.details?.error;
  return String(error?.cause?.stack ?? error?.cause ?? error?.message ?? "").slice(0, 4000);
}

export default async function* report(source) {
  reporters += 1;
  const found = new Map();
  const path = [];
  for await (const { type, data } of source) {
    if (type === "test:start") {
      path.length = data.nesting;
      path.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      const name = [...path.slice(0, data.nesting), data.name].join(" > ");
      const status = statusOf(type, data);
      if (!found.has(name) || found.get(name).status === "passed") found.set(name, { status, detail: detailOf(data) });
      yield `${status} ${name}\n`;
    }
  }
  for (const name of names) {
    const outcome = found.get(name) ?? { status: "missing", detail: "the file has no such test" };
    send({ test: name, ...(reporters === 1 ? outcome : { status: "tampered", detail: "reported twice" }) });
  }
  send({ end: names.length });
}
