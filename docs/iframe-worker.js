// Search on pages that are opened from a folder. Browsers start no worker there, so what would be one runs in a hidden
// frame: messages come to it as events, and what it posts are events of the worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script src="${new URL(url, document.baseURI).href}"></script>`;
      this.inside = new Promise((resolve) => {
        frame.onload = () => {
          frame.contentWindow.postMessage = (data) => {
            this.dispatchEvent(new MessageEvent("message", { data }));
          };
          resolve(frame.contentWindow);
        };
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
