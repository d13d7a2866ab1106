// Search on pages that are opened as files: browsers give these no workers, so a hidden frame does a worker's job.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = `<script src="${url}"></script>`
      this.inside = new Promise(done => this.frame.onload = () => done(this.frame.contentWindow))
      this.inside.then(inside => inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data})))
      document.body.append(this.frame)
    }

    postMessage(data) {
      this.inside.then(inside => inside.dispatchEvent(new MessageEvent("message", {data})))
    }
  }
