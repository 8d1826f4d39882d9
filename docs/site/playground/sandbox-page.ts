/**
 * A page of an opaque origin: no storage, cache, cookie or service worker of the site. No request passes its policy, which its
 * worker inherits. The worker is there so that an endless loop does not stop the page. Browsers give such a worker no WebGPU, so
 * a program that wants it runs in a frame of this page, which inherits the policy too and cannot go elsewhere.
 */
export const SANDBOX = `<!DOCTYPE html>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:">
<script>
  addEventListener('message', ({ data: { code, request, isFrame } }) => {
    if (isFrame) {
      const frame = document.createElement('iframe');
      const script = 'self.postMessage = (data) => parent.postMessage(data, "*");' + code;
      frame.srcdoc = '<script>' + script.replaceAll('</' + 'script', '<\\/script') + '</' + 'script>';
      frame.onload = () => frame.contentWindow.postMessage(request, '*');
      addEventListener('message', ({ source, data }) => {
        if (source === frame.contentWindow) parent.postMessage(data, '*');
      });
      document.documentElement.append(frame);
      return;
    }
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => parent.postMessage(data, '*');
    worker.onerror = ({ message }) => parent.postMessage({ fault: { message } }, '*');
    worker.postMessage(request);
  }, { once: true });
</script>`;
