"use strict";
// The app asks with {type: "session-token-request"} and gets
// {type: "session-token", sessionToken}, on its own origin alone.
const frame = document.getElementById("app");
const origin = frame.dataset.origin;
async function send() {
  const response = await fetch(frame.dataset.tokens, {method: "POST", credentials: "same-origin", headers: {"Content-Type": "application/json"}, body: "{}"});
  if (!response.ok) {
    document.getElementById("status").textContent = "The app could not be signed in.";
    return;
  }
  const {sessionToken} = await response.json();
  frame.contentWindow.postMessage({type: "session-token", sessionToken}, origin);
}
frame.addEventListener("load", send);
window.addEventListener("message", (event) => {
  if (event.origin === origin && event.source === frame.contentWindow && event.data && event.data.type === "session-token-request") send();
});
