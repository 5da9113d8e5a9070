import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

/** Callers that begin with the first message. The process replies with the number of answered reads. */

export type SlowCallers = {
  readonly origin: string;
  readonly readers: readonly { readonly key: string; readonly url: string }[];
};
export type AnsweredSlowly = { readonly answered: number };

/** Pause before a refused read is sent again. */
const REFUSED_MS = 200;

let answered = 0;

const readOn = async (pool: Pool, { key, url }: SlowCallers['readers'][number]): Promise<never> => {
  for (;;) {
    const { statusCode, body } = await pool.request({
      path: url,
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    });
    await body.dump();
    if (statusCode === 200) answered += 1;
    else if (statusCode === 503) await delay(REFUSED_MS);
    else throw new Error(`${url}: ${statusCode}`);
  }
};

process.once('message', ({ origin, readers }: SlowCallers) => {
  const pool = new Pool(origin, { connections: readers.length });
  for (const reader of readers) void readOn(pool, reader);
});
process.on('message', () => process.send?.({ answered } satisfies AnsweredSlowly));
