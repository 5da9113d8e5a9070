import { afterAll, beforeAll, test } from 'vitest';
import { inheritedEnvironment } from '#platform/settings.ts';
import { silentLog } from '#platform/logger.ts';
import { sweepRegularly } from '#services/delivery/worker.ts';
import { until } from '#tests/stack/wait-until.ts';
import { percentile } from '#tests/percentile.ts';
import { judge } from '#tests/trials/judge.ts';
import { newDelivery } from '../new-delivery.ts';
import { answers, type Behaviour, hangs, openReceivers, type Receivers } from '../receivers.ts';
import { type DeliveryStack, openDeliveryStack } from '../stack.ts';

const environment = inheritedEnvironment();
const LARGE = Number(environment['ENDPOINTS_DELIVERIES'] ?? 1_500);
const SMALL_ENDPOINTS = Number(environment['ENDPOINTS_SMALL'] ?? 20);
const PER_SMALL_ENDPOINT = 10;
/** True for the long form (`npm run trials -- endpoints`), which holds limits on a quiet machine. */
const isLong = environment['ENDPOINTS_DELIVERIES'] !== undefined;
/** Limit of the small endpoints' time next to the large one, by their time alone. */
const RATIO_MAX = 2;
/** Limit of the large endpoint's share when the small ones are done: it was due first. */
const LARGE_SHARE_MAX = 0.9;
/** Interval of the sweeps; below it the ratio means nothing. */
const SWEEP_MS = 1_000;
/** Claims per delivery: nothing is claimed and given back. */
const CLAIMS_MAX = isLong ? 1.1 : 1.5;
const LIMIT_MS = 60_000 + LARGE * 10;

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  // Receivers are disposed of first, which ends the requests that hang.
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const queueTo = async (path: string, count: number): Promise<void> => {
  const rule = stack.rule();
  const target = { channel: 'webhook', url: receivers.url + path } as const;
  for (let left = count; left > 0; left -= 1_000) {
    const some = Array.from({ length: Math.min(1_000, left) }, () =>
      newDelivery(rule, target, stack.clock.now()),
    );
    await stack.enqueue(...some);
  }
};

/** Counts claims of free deliveries, not renewals of leases. */
const countClaims = (): Promise<unknown> =>
  stack.pool.query(`
    create table claimed (delivery_id uuid not null);
    create function count_claim() returns trigger language plpgsql as $$
    begin
      insert into claimed values (new.delivery_id);
      return null;
    end $$;
    create trigger count_claim after update on delivery.due for each row
      when (old.taken_by is null and new.taken_by is not null) execute function count_claim();`);

const claimsPerSend = async (): Promise<number> => {
  const { rows } = await stack.pool.query<{ ratio: number }>(
    `select (select count(*) from claimed)::float8 / count(*) as ratio
     from delivery.journal where type = 'DeliveryAttempted'`,
  );
  return rows[0]?.ratio ?? Number.NaN;
};

/** Returns the p99 of arrivals in ms, and the share of the large endpoint when all small ones had arrived. */
const sendNextTo = async (name: string, large: number, behaviour: Behaviour) => {
  receivers.behave(`/${name}/large`, behaviour);
  // The large endpoint is first by time and by number.
  await queueTo(`/${name}/large`, large);
  for (let n = 0; n < SMALL_ENDPOINTS; n += 1) await queueTo(`/${name}/small/${n}`, PER_SMALL_ENDPOINT);
  const small = () => receivers.received.filter(({ path }) => path.startsWith(`/${name}/small/`));
  const ending = new AbortController();
  const worker = stack.worker();
  const startMs = performance.now();
  const sweeping = sweepRegularly(worker, silentLog(), ending.signal);
  await until('the small endpoints', LIMIT_MS, () => small().length === SMALL_ENDPOINTS * PER_SMALL_ENDPOINT);
  const largeShare = receivers.at(`/${name}/large`).length / Math.max(1, large);
  const times = small().map(({ atMs }) => atMs - startMs);
  if (behaviour !== hangs)
    await until('all', LIMIT_MS, () => receivers.at(`/${name}/large`).length === large);
  ending.abort();
  await sweeping;
  if (behaviour !== hangs) await worker.idle();
  return { p99: percentile(times, 0.99), largeShare };
};

test(
  'small endpoints do not wait for one with very many due deliveries, nor for one that hangs on their origin, and each delivery is claimed once',
  async (context) => {
    await countClaims();
    const { p99: alone } = await sendNextTo('alone', 0, answers(204));
    const { p99: busy, largeShare } = await sendNextTo('busy', LARGE, answers(204));
    const claims = await claimsPerSend();
    const { p99: hanging } = await sendNextTo('hanging', LARGE, hangs);
    const waits = `p99 wait of ${SMALL_ENDPOINTS} endpoints with ${PER_SMALL_ENDPOINT} due, alone ${alone.toFixed(0)} ms, beside`;
    const limit = { atMost: Math.max(SWEEP_MS, RATIO_MAX * alone), unit: 'ms', isJudged: isLong };
    judge(context, `${waits} one with ${LARGE}`, busy, limit);
    judge(context, `${waits} one with ${LARGE} that hangs`, hanging, limit);
    judge(context, 'share of the large endpoint that was sent before the small ones', largeShare, {
      atMost: LARGE_SHARE_MAX,
    });
    judge(context, 'claims a send', claims, { atMost: CLAIMS_MAX });
  },
  LIMIT_MS * 4,
);
