import { notify } from './dom.js';

const wait = (ms, signal) =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });

/** Waiting step. Short steps let a changed interval take effect at once. */
const STEP_MS = 1_000;

const isFinal = ({ name, status }) => name === 'AbortError' || (status >= 400 && status < 500);

/** Runs `load` at an interval while the tab is visible. Retries, so that the display survives a deployment. */
export const poll = async (load, everyMs, signal) => {
  let isStale = false;
  while (!signal.aborted) {
    try {
      if (!document.hidden) await load();
      if (isStale) notify('');
      isStale = false;
    } catch (error) {
      if (isFinal(error)) throw error;
      if (!isStale) notify(`${error.message} Retrying; the page shows the last known state.`, 'bad');
      isStale = true;
    }
    const intervalMs = typeof everyMs === 'function' ? everyMs : () => everyMs;
    for (let waitedMs = 0; waitedMs < intervalMs() && !signal.aborted; waitedMs += STEP_MS)
      await wait(STEP_MS, signal);
  }
};
