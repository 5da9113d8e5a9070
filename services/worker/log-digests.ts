import { Cron } from 'croner';
import { DAY_MS } from '#contracts/values/time.ts';
import { type DigestMaker, LogAltered, makeDigest, readDigests } from '#application/audit/log-digest.ts';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';

const RETRY_MS = 5_000;
const ATTEMPTS_MAX = 60;

type Options = Omit<DigestMaker, 'log'> & {
  readonly rawLog: DigestMaker['log'];
  readonly cron: string;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Signs a digest of the log at the times of the cron expression, and at once if the last one is over a day old. */
export const scheduleDigests = ({ cron, log, signal, rawLog, ...maker }: Options): AsyncDisposable => {
  let running: Promise<void> | null = null;
  const makeOnce = async (): Promise<void> => {
    const digest = await makeDigest({ ...maker, log: rawLog, signal });
    if (digest !== null)
      log.info({ sequence: digest.sequence, events: digest.events, root: digest.root }, 'log digest signed');
  };
  const make = async (): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX && !signal.aborted; attempt += 1) {
      try {
        return await makeOnce();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LogAltered) return log.error({ err: error }, 'log digest refused');
        log.warn({ err: error, attempt }, 'log digest failed; retrying');
        await pause(RETRY_MS, signal);
      }
    }
  };
  const run = (): Promise<void> =>
    (running ??= make().finally(() => {
      running = null;
    }));
  const catchUp = async (): Promise<void> => {
    const [last] = await readDigests(maker.database, 1);
    if (last === undefined || maker.clock.now().getTime() - Date.parse(last.made_at) > DAY_MS) await run();
  };
  catchUp().catch((error: unknown) => log.warn({ err: error }, 'last log digest not readable'));
  const job = new Cron(cron, { timezone: 'UTC' }, run);
  return {
    [Symbol.asyncDispose]: async () => {
      job.stop();
      await running;
    },
  };
};
