"use strict";
// The app in the frame gets {type: "session-token", sessionToken} when it has loaded, and again
// whenever it asks with {type: "session-token-request"}; on its own origin alone.
//
// The page has this script before the frame, so that the frame cannot load before the script
// listens.
async function send(frame) {
  const response = await fetch(frame.dataset.tokens, {method: "POST", credentials: "same-origin", headers: {"Content-Type": "application/json"}, body: "{}"});
  if (!response.ok) {
    document.getElementById("status").textContent = "The app could not be signed in.";
    return;
  }
  const {sessionToken} = await response.json();
  frame.contentWindow.postMessage({type: "session-token", sessionToken}, frame.dataset.origin);
}
document.addEventListener("load", (event) => {
  if (event.target.id === "app") send(event.target);
}, true); // load events do not bubble
window.addEventListener("message", (event) => {
  const frame = document.getElementById("app");
  if (frame && event.origin === frame.dataset.origin && event.source === frame.contentWindow && event.data && event.data.type === "session-token-request") send(frame);
});
