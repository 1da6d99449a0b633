import RFB from "/novnc/core/rfb.js";
import keysyms from "/novnc/core/input/keysymdef.js";
import { fileNodes, make } from "/details.js";

const SUPERSEDED = 4001;
const RETRY_MS = 1000;
const LATE_S = 60;
const WORDS = {
  control: { live: "You are driving", lost: "Connection lost", lostDetail: "Coming back… Stay away too long and the run ends." },
  watch: { live: "Watching, view only", lost: "Connection lost", lostDetail: "Coming back… The run goes on meanwhile." },
};

const $ = (id) => document.getElementById(id);
const task = await (await fetch("/task")).json();
const words = WORDS[task.mode];
let rfb = null;
let run = { phase: "preparing" };
let endsAt = null;
let superseded = false;

const veil = (headline, detail = "") => {
  $("veil").hidden = !headline;
  $("veil").classList.toggle("dim", Boolean(headline));
  $("headline").textContent = headline ?? "";
  $("detail").textContent = detail;
};

const isOver = () => run.phase === "stopping" || run.phase === "done";

const setLive = (live) => {
  $("mode").textContent = live ? words.live : isOver() ? "Ended" : "Not connected";
  $("mode").classList.toggle("live", live);
};

// -- the screen

const connect = () => {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/screen`);
  socket.addEventListener("close", (event) => {
    superseded = event.code === SUPERSEDED;
  });
  const screen = new RFB($("screen"), socket, { shared: true });
  screen.scaleViewport = true;
  screen.background = "transparent";
  screen.qualityLevel = 8;
  screen.viewOnly = task.mode === "watch";
  screen.addEventListener("connect", () => {
    rfb = screen;
    veil(null);
    setLive(true);
    screen.focus();
  });
  screen.addEventListener("disconnect", () => {
    rfb = null;
    setLive(false);
    if (isOver()) return;
    if (superseded) {
      veil("Open in another tab", "Reload this page to take the screen back.");
    } else {
      veil(words.lost, words.lostDetail);
      setTimeout(() => isOver() || connect(), RETRY_MS);
    }
  });
};

const freeze = () => {
  const live = $("screen").querySelector("canvas");
  if (!rfb || !live) return;
  rfb.viewOnly = true;
  const still = $("still");
  still.width = live.width;
  still.height = live.height;
  still.getContext("2d").drawImage(live, 0, 0);
  still.hidden = false;
};

const typeText = (text) => {
  if (!rfb) return;
  for (const letter of text) rfb.sendKey(keysyms.lookup(letter.codePointAt(0)));
  rfb.focus();
};

// -- what is going on

const showClock = () => {
  if (endsAt === null) return;
  const left = isOver() ? run.left_s : Math.max(0, (endsAt - performance.now()) / 1000);
  const whole = Math.ceil(left);
  $("clock").textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  $("clock").classList.toggle("late", !isOver() && whole <= LATE_S);
};

const showWindows = (windows) => {
  const ask = (window, verb) => () => {
    fetch(`/windows/${window.target}/${verb}`, { method: "POST" });
    rfb?.focus();
  };
  $("windows").hidden = windows.length < 2;
  $("windows").replaceChildren(
    "Windows:",
    ...windows.map((window, place) => {
      const chip = make("span", {}, make("button", { textContent: window.title, onclick: ask(window, "raise") }));
      const close = { textContent: "×", title: "Close this window", onclick: ask(window, "close") };
      if (place > 0) chip.append(make("button", close));
      return chip;
    }),
  );
};

const follow = () => {
  const source = new EventSource("/events");
  source.addEventListener("message", (event) => {
    run = JSON.parse(event.data);
    endsAt = run.left_s === null ? null : performance.now() + run.left_s * 1000;
    $("figures").textContent = `${run.actions} actions · ${run.requests} requests`;
    showClock();
    showWindows(isOver() ? [] : run.windows);
    if (!isOver()) return;
    freeze();
    setLive(false);
    const done = run.phase === "done";
    veil(run.headline, done ? `${run.detail}\nYou can close this page.`.trim() : "Finishing the recording…");
    if (!done) return;
    source.close();
    rfb?.disconnect();
  });
};

document.title = `${task.title} · Clawbench`;
$("title").textContent = task.title;
$("instruction").textContent = task.instruction;
setLive(false);
if (task.mode === "control") {
  $("aside").hidden = false;
  for (const file of task.files) $("files").append(...fileNodes(file, typeText));
  $("paste").addEventListener("submit", (event) => {
    event.preventDefault();
    typeText($("text").value);
    $("text").value = "";
  });
}
setInterval(showClock, 250);
follow();
connect();
