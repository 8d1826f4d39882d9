/**
 * A page of an opaque origin: no storage, cache, cookie or service worker of the site. No request passes its policy, which its
 * worker inherits. The worker is there so that an endless loop does not stop the page.
 */
export const SANDBOX = `<!DOCTYPE html>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:">
<script>
  addEventListener('message', ({ data: { code, request } }) => {
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => parent.postMessage(data, '*');
    worker.onerror = ({ message }) => parent.postMessage({ fault: { message } }, '*');
    worker.postMessage(request);
  }, { once: true });
</script>`;
