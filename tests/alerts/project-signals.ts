import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { silentLog } from '#platform/logger.ts';
import { signals } from '#projections/signals/project.ts';
import { runProjections } from '#services/projector/run.ts';
import { type Story, story } from '../projections/fixtures/signal-stories.ts';
import { until } from '../stack/wait-until.ts';
import type { AlertsStack } from './stack.ts';

const LIMIT_MS = 60_000;
const FIRST_PAGE = '100000001';
const CREATOR_PAGE = '100000002';

export const projectSignals = ({ environment }: AlertsStack): AsyncDisposable => {
  const ending = new AbortController();
  const running = runProjections({
    databaseUrl: environment['DATABASE_URL'] ?? '',
    eventStoreUrl: environment['EVENT_STORE_URL'] ?? '',
    projections: [signals],
    log: silentLog(),
    signal: ending.signal,
  });
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
    },
  };
};

export const appendStory = async (stack: AlertsStack, { events }: Story, from = 0): Promise<void> => {
  for (const { stream, event } of events.slice(from)) await stack.append(stream, [event]);
};

/** A story whose eighth day has the two signals `ramp` and `new_linked_page`. */
export const storyWithSignals = (domain: string): Story =>
  story(domain, 1)
    .link(0, FIRST_PAGE, 'OFFICIAL')
    .scan(0, { baseline: true, launches: [{ count: 20, novelty: 'baseline', since: -9 }] })
    .scan(7, { launches: [{ count: 10 }] })
    .link(7, CREATOR_PAGE, 'CREATOR', 10);

export const projectAll = async (stack: AlertsStack): Promise<void> => {
  const head = await stack.eventStore.head();
  await using _ = projectSignals(stack);
  const url = stack.environment['DATABASE_URL'] ?? '';
  await using wait = openProjectionWait(url, stack.pool, silentLog());
  await until('the signals projected', LIMIT_MS, () => wait.wait([signals.name], head));
};
