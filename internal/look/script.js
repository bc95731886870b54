"use strict";
// Pages work without this. It copies, counts down, and keeps lists fresh.

// <button data-copy="text" hidden>: shown because it works now.
function showCopyButtons(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = !navigator.clipboard;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy by hand";
  }
  setTimeout(() => { button.textContent = before; }, 2000);
});

// <time data-countdown="seconds">: what is left, counted from when the page came.
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

// A page that shows a secret is the answer to a form. Reloading it would send the
// form again: from here on it is the page that data-replace names.
function forgetForm() {
  const element = document.querySelector("[data-replace]");
  if (element) history.replaceState(null, "", element.dataset.replace);
}

// <section id data-live>: fetched again every other second, while somebody looks and
// nothing in it is being used.
function keepFresh() {
  if (!document.querySelector("[data-live]")) return;
  const again = () => setTimeout(refresh, 2000);
  async function refresh() {
    if (document.hidden) return again();
    let page;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", redirect: "error" });
      if (!answer.ok) return setTimeout(refresh, 15000);
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      return setTimeout(refresh, 15000);
    }
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh || fresh.innerHTML === old.dataset.seen || old.contains(document.activeElement) || old.querySelector("details[open]")) continue;
      old.replaceChildren(...document.importNode(fresh, true).childNodes);
      old.dataset.seen = fresh.innerHTML;
      showCopyButtons(old);
      countDown(old);
    }
    again();
  }
  for (const element of document.querySelectorAll("[data-live]")) element.dataset.seen = element.innerHTML;
  again();
}

keepFresh();
showCopyButtons(document);
countDown(document);
forgetForm();
