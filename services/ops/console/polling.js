import { say } from './dom.js';

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

/** Waited for in steps, so that another pace holds at once. */
const STEP_MS = 1_000;

/** What asking again does not mend: the page is left, the token is none, or there is no such thing. */
const isFinal = ({ name, status }) => name === 'AbortError' || (status >= 400 && status < 500);

/**
 * Runs `look` at once and then again and again, while the tab is seen and until the page is left. A service that is
 * away for a moment, as when it is deployed, is asked again: who watches a rebuild goes on watching.
 */
export const repeat = async (look, everyMs, signal) => {
  let isStale = false;
  while (!signal.aborted) {
    try {
      if (!document.hidden) await look();
      if (isStale) say('');
      isStale = false;
    } catch (error) {
      if (isFinal(error)) throw error;
      if (!isStale) say(`${error.message} It is asked again; until then the page is as it was.`, 'bad');
      isStale = true;
    }
    const pace = typeof everyMs === 'function' ? everyMs : () => everyMs;
    for (let waitedMs = 0; waitedMs < pace() && !signal.aborted; waitedMs += STEP_MS)
      await wait(STEP_MS, signal);
  }
};
