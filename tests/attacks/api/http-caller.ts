import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Runs in a thread of its own, so that its costs are not counted to the API. */
export type Met = { readonly status: number; readonly retryAfter: string | undefined; readonly ms: number };
/** Keyless requests, sent without awaiting a reply. */
export type Pipelines = { readonly connections: number; readonly requests: number };
/** Paths to request at once, repeatedly for `ms` milliseconds, or once without. */
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

const pipeline = (requests: number): Promise<readonly Met[]> =>
  new Promise((resolve) => {
    const since = performance.now();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    // The server may close the connection before it has read everything.
    socket
      .on('error', () => undefined)
      .on('close', () => {
        const ms = performance.now() - since;
        const replies = text.matchAll(/HTTP\/1\.1 (\d+)/g);
        resolve(Array.from(replies, ([, status]) => ({ status: Number(status), retryAfter: undefined, ms })));
      });
    const one = 'GET /v1/brands/alpha HTTP/1.1\r\nhost: a\r\n\r\n';
    const last = 'GET /v1/brands/alpha HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    socket.write(one.repeat(requests - 1) + last);
  });

const answer = async ({ paths, ms = 0 }: Calls): Promise<void> => {
  const until = performance.now() + ms;
  const met: Met[] = [];
  do met.push(...(await Promise.all(paths.map(call))));
  while (performance.now() < until);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
  parentPort?.postMessage(met);
};
const answerPipelines = async ({ connections, requests }: Pipelines): Promise<void> => {
  const met = await Promise.all(Array.from({ length: connections }, () => pipeline(requests)));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
  parentPort?.postMessage(met.flat());
};
parentPort?.on('message', (message: Calls | Pipelines) =>
  'connections' in message ? void answerPipelines(message) : void answer(message),
);
