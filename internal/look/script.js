"use strict";
// Pages work without this. It copies, counts down, keeps lists fresh, and sends a form once.

// <button data-copy="text" hidden>: shown because it works now.
function showCopyButtons(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) {
    button.hidden = !navigator.clipboard;
    if (button.matches(".copier")) button.setAttribute("aria-label", "Copy " + button.dataset.copy);
  }
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const isDrawn = button.matches(".copier"), before = button.textContent;
  let said;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    said = "Copied";
  } catch {
    said = "Select it and copy by hand";
  }
  if (isDrawn) showTip(button, said);
  else button.textContent = said;
  button.classList.toggle("done", said === "Copied");
  setTimeout(() => {
    if (!isDrawn) button.textContent = before;
    button.classList.remove("done");
  }, 2000);
});

// A tip says more about what the pointer or the focus is on: the exact time, the whole of
// what is cut, a bar of a chart.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);
function showTip(element, text) {
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
  const place = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, place.left + place.width / 2 - own.width / 2), document.documentElement.clientWidth - own.width - 8);
  const above = place.top - own.height - 6;
  tip.style.left = left + scrollX + "px";
  tip.style.top = (above > 0 ? above : place.bottom + 6) + scrollY + "px";
}
const hideTip = () => { tip.hidden = true; };
function tipOf(element) {
  const time = element.closest?.("time[title], time[data-exact]");
  if (time) {
    if (time.title) {
      time.dataset.exact = time.title + "\n" + new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "long" });
      time.removeAttribute("title"); // the browser's own would cover ours
    }
    return [time, time.dataset.exact];
  }
  const bar = element.closest?.("svg.chart > g");
  if (!bar) return null;
  const title = bar.querySelector("title");
  if (title) { // likewise
    bar.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  return [bar, bar.getAttribute("aria-label")];
}
for (const event of ["pointerover", "focusin"]) {
  document.addEventListener(event, ({ target }) => {
    const found = tipOf(target);
    if (found) showTip(...found);
    else hideTip();
  });
}
document.addEventListener("focusout", hideTip);
addEventListener("scroll", hideTip, { passive: true });

// The bars of a chart are one stop of the keyboard: arrows lead from bar to bar.
document.addEventListener("keydown", (event) => {
  const bar = event.target.closest?.("svg.chart > g");
  if (!bar) return;
  const bars = [...bar.parentNode.querySelectorAll(":scope > g")];
  const to = { ArrowLeft: bars.indexOf(bar) - 1, ArrowRight: bars.indexOf(bar) + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (to === undefined || !bars[to]) return;
  event.preventDefault();
  for (const one of bars) one.setAttribute("tabindex", one === bars[to] ? "0" : "-1");
  bars[to].focus();
});

// Escape closes what was opened last: a question, a filter, a switch.
const closing = "details.ask, .chip > details, details.switch";
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hideTip();
  const open = event.target.closest?.(closing)?.closest("[open]") ?? [...document.querySelectorAll(closing)].findLast((details) => details.open);
  if (!open?.open) return;
  const hadFocus = open.contains(document.activeElement);
  open.open = false;
  if (hadFocus) open.querySelector("summary").focus();
});
// One filter is open at a time, and a click beside it closes it.
document.addEventListener("click", ({ target }) => {
  for (const open of document.querySelectorAll(".chip > details[open], details.switch[open]")) if (!open.contains(target)) open.open = false;
});
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.matches(".chip > details")) target.querySelector("input:not([type=hidden]), select")?.focus();
}, true);

// <span data-countdown="seconds">: what is left, counted from when the page came.
function countDown(root) {
  for (const element of root.querySelectorAll("[data-countdown]")) {
    const end = performance.now() + 1000 * Number(element.dataset.countdown);
    const tick = () => {
      const left = Math.max(0, Math.round((end - performance.now()) / 1000));
      const part = (n) => String(n).padStart(2, "0");
      element.textContent = `${part(Math.floor(left / 3600))}:${part(Math.floor(left / 60) % 60)}:${part(left % 60)}`;
      if (left > 0 && element.isConnected) setTimeout(tick, 1000);
    };
    tick();
  }
}

// A box that chooses all others: those of a list, by name, or of its group. It follows them.
function showChooseAll(root) {
  for (const box of root.querySelectorAll("[data-all]")) box.closest("label").hidden = false;
}
const ofAll = (all) => all.dataset.all ? document.getElementsByName(all.dataset.all) : all.closest("fieldset").querySelectorAll("[name=events]");
const follow = (all) => { const boxes = [...ofAll(all)]; all.checked = boxes.length > 0 && boxes.every((box) => box.checked); };
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-all], [name=all]")) for (const box of ofAll(target)) box.checked = target.checked;
  else if (target.matches("[name=events]")) for (const all of target.closest("fieldset").querySelectorAll("[name=all]")) follow(all);
  else for (const all of document.querySelectorAll("[data-all]")) if (all.dataset.all === target.name) follow(all);
});

// A form is sent once: its buttons rest until the page is shown again. What takes longer
// than one second says so, to screen readers too.
document.addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter;
  if (form.method !== "post" || event.defaultPrevented) return;
  if ("sent" in form.dataset) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "";
  const state = document.createElement("span");
  state.className = "working";
  state.setAttribute("role", "status");
  (button ?? form.lastElementChild ?? form).after(state);
  setTimeout(() => { // a disabled button would not be sent along
    for (const one of form.elements) if (one.matches("button")) one.disabled = true;
  });
  setTimeout(() => { state.textContent = "Working…"; }, 1000);
});
// A page that comes from the history of the browser can have forms that were sent.
function wakeForms() {
  for (const state of document.querySelectorAll(".working")) state.remove();
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("form button, button[form]")) button.disabled = false;
}
addEventListener("pageshow", (event) => { if (event.persisted) wakeForms(); });

// A page that shows a secret is the response to a form. Reloading it would send the
// form again: from here on it is the page that data-replace names.
function forgetForm() {
  const element = document.querySelector("[data-replace]");
  if (element) history.replaceState(null, "", element.dataset.replace);
}

// <section data-keep="token">: "Try it" in the API reference has the sandbox token too, in this
// tab and until the person signs out.
function keepToken() {
  const element = document.querySelector("[data-keep]");
  if (element) try { sessionStorage.setItem("partnerkit-token", element.dataset.keep); } catch { /* it is entered there */ }
}

// Times as people say them pass: the same words as Ago in ago.go. The clock is the platform's.
const began = performance.now(), then = Date.parse(document.body.dataset.now);
function relative(seconds) {
  const distance = Math.abs(seconds);
  for (const [unit, of] of [["day", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const n = Math.floor(distance / of);
    if (n === 0) continue;
    const text = `${n} ${unit}${unit === "day" && n > 1 ? "s" : ""}`;
    return seconds < 0 ? "in " + text : text + " ago";
  }
  return "now";
}
function passTime() {
  const now = then + performance.now() - began;
  for (const time of document.querySelectorAll("time[tabindex]")) {
    const text = relative((now - Date.parse(time.dateTime)) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}
if (then) setInterval(passTime, 5000);

// The address of a page forgets what was just done: loading it again does not say it again.
// What it said goes once something on the page has changed.
function forgetNotice() {
  const url = new URL(location.href);
  for (const name of ["done", "queued", "skipped"]) url.searchParams.delete(name);
  if (url.href !== location.href) history.replaceState(null, "", url);
}

// <section id data-live="where">: asked for again every other second, while somebody looks
// and nothing in it is being used: what changed on the page alone, and only if it did. What
// comes costs no more than two kilobytes a second on average. Details and focus stay as they
// are, by id.
function keepFresh() {
  const sections = () => document.querySelectorAll("[data-live]");
  // What counts down differs all the time.
  const face = (element) => element.innerHTML.replace(/(<span[^>]* data-countdown=[^>]*>|<time[^>]*>)[^<]*/g, "");
  const isUsed = (element) => {
    const focus = document.activeElement, selection = getSelection();
    return element.contains(focus) && focus.matches("button, input, select, textarea") || element.querySelector("details.ask[open], form[data-sent], [name=delivery]:checked") ||
      !selection.isCollapsed && element.contains(selection.anchorNode);
  };
  function swap(old, fresh) {
    const focus = old.contains(document.activeElement) && document.activeElement.closest("[id]").id;
    const open = new Map(Array.from(old.querySelectorAll("details[id]"), (details) => [details.id, details.open]));
    old.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const details of old.querySelectorAll("details[id]")) details.open = open.get(details.id) ?? details.open;
    if (focus) document.getElementById(focus)?.focus();
    showCopyButtons(old);
    showChooseAll(old);
    countDown(old);
  }
  let tag = "";
  const seen = new Map(Array.from(sections(), (element) => [element.id, face(element)]));
  if (seen.size === 0) return;
  const address = sections()[0].dataset.live || location.href;
  // Says why the sections stand still, to screen readers too.
  const state = document.createElement("p");
  state.className = "note warn pause";
  state.setAttribute("role", "status");
  sections()[0].before(state);
  const pause = (text) => { if (state.textContent !== text) state.textContent = text; };
  async function refresh() {
    let wait = 2000;
    if (!document.hidden) try {
      const response = await fetch(address, { credentials: "same-origin", redirect: "manual", headers: { "Partnerkit-Live": "1", ...(tag && { "If-None-Match": tag }) } });
      const signedOut = response.type === "opaqueredirect" || response.status === 401 || response.status === 403;
      if (signedOut || !response.ok && response.status !== 304) {
        pause(signedOut ? "Updates are paused: you are signed out. Reload the page to sign in." : "Updates are paused: the service does not respond.");
        throw new Error(response.statusText);
      }
      pause("");
      if (response.status !== 304) {
        const text = await response.text(), page = new DOMParser().parseFromString(text, "text/html");
        let isWhole = true;
        for (const old of sections()) {
          const fresh = page.getElementById(old.id);
          if (!fresh || face(fresh) === seen.get(old.id)) continue;
          if (isUsed(old)) {
            isWhole = false; // ask for it again
            continue;
          }
          seen.set(old.id, face(fresh));
          swap(old, fresh);
          for (const notice of document.querySelectorAll("p.note.ok[role=status]:not([data-live] *)")) notice.remove();
        }
        tag = isWhole ? response.headers.get("ETag") : "";
        wait = Math.max(wait, text.length / 2);
      }
    } catch (error) {
      if (error instanceof TypeError) pause("Updates are paused: the service cannot be reached.");
      wait = 15000;
    }
    setTimeout(refresh, wait);
  }
  setTimeout(refresh, 2000);
}

// <form class="find">: Ctrl-K or Cmd-K goes there. What is found appears below while somebody
// types, and Enter opens the first result.
function findAnything() {
  const form = document.querySelector("form.find");
  if (!form) return;
  const field = form.elements.q, list = document.createElement("div");
  list.className = "found";
  list.setAttribute("role", "status");
  list.hidden = true;
  form.append(list);
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      field.focus();
      field.select();
    } else if (event.key === "Escape" && !list.hidden) {
      list.hidden = true;
      field.focus();
    }
  });
  let latest = "";
  async function find() { // the results of what stands in the field now; null: they are not known
    const query = latest = field.value.trim();
    if (!query) { list.hidden = true; return null; }
    try {
      const response = await fetch(form.action + "?" + new URLSearchParams({ q: query }), { credentials: "same-origin", redirect: "manual" });
      if (!response.ok || query !== latest) return null;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const results = page.getElementById("results");
      if (!results || query !== latest) return null;
      results.removeAttribute("id");
      list.replaceChildren(document.importNode(results, true));
      list.hidden = false;
      return list.querySelector("a");
    } catch {
      return null;
    }
  }
  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, 150); });
  form.addEventListener("focusout", (event) => { if (event.relatedTarget && !form.contains(event.relatedTarget)) list.hidden = true; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    const first = await find();
    if (first) location.assign(first.href); else form.submit();
  });
}

findAnything();
wakeForms();
forgetNotice();
keepFresh();
showCopyButtons(document);
showChooseAll(document);
countDown(document);
forgetForm();
keepToken();
