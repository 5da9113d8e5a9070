/** Runs `look` at once and then again and again, while the tab is seen and until the page is left. */
export const repeat = async (look, everyMs, signal) => {
  while (!signal.aborted) {
    if (!document.hidden) await look();
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, typeof everyMs === 'function' ? everyMs() : everyMs);
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
};
