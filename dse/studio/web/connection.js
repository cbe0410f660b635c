// The socket to the server. The token stands behind "#" in the address: a browser sends it to nobody by itself.

const PROTOCOL = "dse-studio";
const SECONDS = 3;
const NO_TOKEN = "This page was opened without its token: open the address that dse studio printed.";
const LOST = "dse studio has ended, or was started anew. What was done on the page is kept: start it again, and open the address that it prints.";

/**
 * Connect, and connect again when the connection is lost. `listeners`: a function for each type of answer, and `lost(text)`
 * and `found()`. Returns {say(message)}, which tells whether there was anybody to hear it.
 */
export function connect(listeners) {
  const token = location.hash.slice(1);
  let socket = null;
  addEventListener("hashchange", () => location.reload());
  if (!/^[0-9a-f]{64}$/.test(token)) {
    listeners.lost(NO_TOKEN);
    return { say: () => false };
  }

  function open() {
    socket = new WebSocket(`ws://${location.host}/live`, [PROTOCOL, token]);
    socket.addEventListener("open", () => listeners.found());
    socket.addEventListener("message", (event) => {
      const answer = JSON.parse(event.data);
      listeners[answer.type]?.(answer);
    });
    socket.addEventListener("close", () => {
      listeners.lost(LOST);
      setTimeout(open, 1000 * SECONDS);
    });
  }

  open();
  return {
    say(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
  };
}
