import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * A caller over HTTP in a thread of its own, so that what it costs is not counted to the API. Answers each message with what
 * it met.
 */
export type Met = { readonly status: number; readonly retryAfter: string | undefined; readonly ms: number };
/** Requests to send: the paths at once, repeated one after another until `ms` milliseconds are over, or once without. */
export type Calls = { readonly paths: readonly string[]; readonly ms?: number };

const { url, authorization } = workerData as { readonly url: string; readonly authorization: string };
const agent = new Agent({ keepAlive: true });

const call = (path: string): Promise<Met> =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    const sent = get(url + path, { agent, headers: { authorization } }, (reply) => {
      reply.resume();
      reply.once('error', reject).once('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          retryAfter: reply.headers['retry-after'],
          ms: performance.now() - since,
        }),
      );
    });
    sent.once('error', reject);
  });

const answer = async ({ paths, ms = 0 }: Calls): Promise<void> => {
  const until = performance.now() + ms;
  const met: Met[] = [];
  do met.push(...(await Promise.all(paths.map(call))));
  while (performance.now() < until);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
  parentPort?.postMessage(met);
};
parentPort?.on('message', (calls: Calls) => void answer(calls));
