"use strict";
// "Try it": sends an operation from its page with an access token, which stays in this tab.
(() => {
  const key = "partnerkit-token"; // the quick start of the console keeps its sandbox token there
  const isSignedIn = document.querySelector(".who") !== null;
  let token = "";
  try {
    if (!isSignedIn) sessionStorage.removeItem(key);
    token = sessionStorage.getItem(key) ?? "";
  } catch { /* no storage: the token is entered on each page */ }

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }
  function field(id, label, control, hint) {
    control.id = id;
    return make("div", { className: "field" }, make("label", { htmlFor: id, textContent: label }), ...(hint ? [hint] : []), control);
  }
  const input = (properties) => make("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: false, ...properties });

  // The samples of operations contain the token.
  const samples = [];
  function fill() {
    for (const { pre, button, text, stand } of samples) {
      pre.textContent = button.dataset.copy = text.replaceAll(stand, token || stand);
    }
  }
  const tokenFields = [];
  function setToken(value, from) {
    token = value.trim();
    if (isSignedIn) try { sessionStorage.setItem(key, token); } catch { /* likewise */ }
    for (const other of tokenFields) if (other !== from) other.value = token;
    fill();
  }

  function tokenField(id, console) {
    const control = input({ value: token, className: "mono", placeholder: "An access token", required: true });
    control.addEventListener("input", () => setToken(control.value, control));
    tokenFields.push(control);
    const hint = make("p", { className: "hint" }, "It stays in this tab. ");
    if (console) hint.append(make("a", { href: console, textContent: "The quick start of an app" }), " gives one for a sandbox business.");
    return field(id, "Access token", control, hint);
  }

  // Shows a response: the status, the headers that the API lets pages read, and the body.
  async function show(output, response, took) {
    const text = await response.text();
    let body = text;
    if (/\bjson\b/.test(response.headers.get("Content-Type") ?? "")) try { body = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it is */ }
    const kind = response.ok ? "ok" : response.status < 500 ? "warn" : "bad";
    const headers = Array.from(response.headers, ([name, value]) => `${name}: ${value}`).join("\n");
    output.replaceChildren(
      make("p", {}, make("span", { className: "badge dot " + kind, textContent: `${response.status} ${response.statusText}`.trim() }), ` in ${Math.round(took)} ms`),
      make("details", {}, make("summary", { textContent: "Headers" }), make("pre", { tabIndex: 0, textContent: headers || "None that a page can read." })),
      make("pre", { tabIndex: 0, className: "body", textContent: body || "The body is empty." }),
    );
  }

  for (const place of document.querySelectorAll("[data-try]")) {
    const call = JSON.parse(place.dataset.try), id = "try-" + place.dataset.id, values = [];
    if (call.token) {
      for (const sample of place.parentElement.querySelectorAll(".languages .sample")) {
        const button = sample.querySelector("[data-copy]");
        samples.push({ pre: sample.querySelector("pre"), button, text: button.dataset.copy, stand: call.token });
      }
    }
    const form = make("form", {}), output = make("div", { className: "result" });
    output.setAttribute("role", "status");
    if (call.token) form.append(tokenField(id + "-token", place.dataset.console));
    (call.parameters ?? []).forEach((parameter, i) => {
      const control = input({ value: parameter.required ? parameter.example : "", placeholder: parameter.example, required: Boolean(parameter.required) });
      values.push([parameter, control]);
      form.append(field(`${id}-${i}`, `${parameter.name} (${parameter.in})`, control));
    });
    const body = call.body && make("textarea", { value: call.body, className: "mono", rows: Math.min(12, call.body.split("\n").length), spellcheck: false });
    if (body) form.append(field(id + "-body", `Body (${call.type})`, body));
    const button = make("button", { className: "primary", textContent: "Send" });
    form.append(make("div", { className: "buttons" }, button));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      let path = call.path;
      const query = new URLSearchParams(), headers = new Headers();
      button.disabled = true;
      try {
        for (const [{ name, in: where }, { value }] of values) {
          if (where === "path") path = path.replaceAll(`{${name}}`, encodeURIComponent(value));
          else if (value && where === "query") query.append(name, value);
          else if (value && where === "header") headers.set(name, value);
        }
        if (call.token && token) headers.set("Authorization", "Bearer " + token);
        if (body) headers.set("Content-Type", call.type);
        const began = performance.now();
        const response = await fetch(call.server + path + (query.size ? "?" + query : ""), {
          method: call.method, headers, body: body?.value, credentials: "omit", redirect: "manual", cache: "no-store", referrerPolicy: "no-referrer",
        });
        if (response.type === "opaqueredirect") throw new Error("The response is a redirect, which a page cannot read.");
        await show(output, response, performance.now() - began);
      } catch (error) {
        const said = error instanceof TypeError ? "The request could not be sent: " + error.message : error.message;
        output.replaceChildren(make("p", { className: "alert", textContent: said }));
      }
      button.disabled = false;
    });
    place.replaceChildren(make("details", {}, make("summary", {}, make("h3", { textContent: "Try it" })), form, output));
  }
  fill();
})();
