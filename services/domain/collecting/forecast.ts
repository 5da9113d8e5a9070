import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';

/** Hours between two readings. `idle`: not requested recently, without a promise. */
export const READ_INTERVAL_HOURS = { daily: 24, weekly: 168, idle: 720 } as const;
export type ReadCadence = keyof typeof READ_INTERVAL_HOURS;

export type PlannedReading = {
  readonly id: string;
  readonly cadence: ReadCadence;
  readonly dueMs: number;
  readonly calls: number;
  /** Interval of a source of its own; the cadence then decides only the promise. */
  readonly intervalHours?: number | undefined;
};

const intervalHoursOf = ({ intervalHours, cadence }: PlannedReading): number =>
  intervalHours ?? READ_INTERVAL_HOURS[cadence];

export type ForecastLimits = {
  readonly nowMs: number;
  readonly callsPerHour: number;
  /** Maximum hours between two readings, by cadence; `null` promises none. */
  readonly promisedHours: Readonly<Record<ReadCadence, number | null>>;
};

export type ForecastTurn = {
  readonly id: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isLate: boolean;
};

export type ForecastCost = {
  readonly callsPerRound: number;
  readonly daysPerRound: number;
  /** Needed share of the calls. Above 1, readings fall further and further behind. */
  readonly load: number;
};

export type Forecast = ForecastCost & {
  /** Ids with a late reading within `FORECAST_DAYS`, in the order of that reading. */
  readonly late: readonly string[];
  readonly turns: readonly ForecastTurn[];
};

/** Long enough for a weekly reading that is late. */
export const FORECAST_DAYS = 9;
/** Every fifth reading prefers weekly targets. */
const TURNS_PER_WEEKLY = 5;
const CADENCES = Object.keys(READ_INTERVAL_HOURS) as readonly ReadCadence[];

type Queued = { readonly reading: PlannedReading; readonly dueMs: number };
type Queue = { readonly items: Queued[]; next: number };

const enqueue = ({ items, next }: Queue, added: Queued): void => {
  let at = items.length;
  while (at > next && (items[at - 1]?.dueMs ?? 0) > added.dueMs) at -= 1;
  items.splice(at, 0, added);
};

/** Delay as a share of the interval; `null` when nothing is due. */
const urgencyOf = (queue: Queue, cadence: ReadCadence, timeMs: number): number | null => {
  const head = queue.items[queue.next];
  if (head === undefined || head.dueMs > timeMs) return null;
  return (timeMs - head.dueMs) / READ_INTERVAL_HOURS[cadence];
};

/** `null` when nothing is due. */
const chooseCadence = (
  queues: ReadonlyMap<ReadCadence, Queue>,
  timeMs: number,
  isWeeklyTurn: boolean,
): ReadCadence | null => {
  let chosen: ReadCadence | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const [cadence, queue] of queues) {
    const urgency = urgencyOf(queue, cadence, timeMs);
    if (urgency === null) continue;
    if (isWeeklyTurn && cadence === 'weekly') return cadence;
    if (urgency > most) [chosen, most] = [cadence, urgency];
  }
  return chosen;
};

export const costOf = (readings: readonly PlannedReading[], callsPerHour: number): ForecastCost => {
  const callsPerRound = readings.reduce((sum, { calls }) => sum + calls, 0);
  const callsNeededPerHour = readings.reduce(
    (sum, reading) => sum + reading.calls / intervalHoursOf(reading),
    0,
  );
  return {
    callsPerRound,
    daysPerRound: callsPerRound / callsPerHour / 24,
    load: callsNeededPerHour / callsPerHour,
  };
};

/** Simulates the scheduler: most overdue first, every fifth from the weekly ones. Throws without calls. */
export const forecast = (readings: readonly PlannedReading[], limits: ForecastLimits): Forecast => {
  const { nowMs, callsPerHour, promisedHours } = limits;
  if (!(callsPerHour > 0)) throw new RangeError('A forecast needs more than 0 calls an hour.');
  const queues = new Map<ReadCadence, Queue>(
    CADENCES.map((cadence) => {
      const items = readings
        .filter((reading) => reading.cadence === cadence)
        .map((reading) => ({ reading, dueMs: reading.dueMs }))
        .toSorted((a, b) => a.dueMs - b.dueMs || (a.reading.id < b.reading.id ? -1 : 1));
      return [cadence, { items, next: 0 }];
    }),
  );
  const turns: ForecastTurn[] = [];
  const late = new Set<string>();
  const endMs = nowMs + FORECAST_DAYS * DAY_MS;
  let timeMs = nowMs;
  while (timeMs < endMs) {
    const cadence = chooseCadence(queues, timeMs, turns.length % TURNS_PER_WEEKLY === TURNS_PER_WEEKLY - 1);
    if (cadence === null) {
      const nextDueMs = Math.min(
        ...[...queues.values()].map(({ items, next }) => items[next]?.dueMs ?? Number.POSITIVE_INFINITY),
      );
      if (nextDueMs >= endMs) break;
      timeMs = nextDueMs;
      continue;
    }
    const queue = queues.get(cadence) as Queue;
    const { reading, dueMs } = queue.items[queue.next] as Queued;
    queue.next += 1;
    const startMs = timeMs;
    timeMs += (reading.calls / callsPerHour) * HOUR_MS;
    const promised = promisedHours[cadence];
    const isLate = promised !== null && timeMs > dueMs + (promised - READ_INTERVAL_HOURS[cadence]) * HOUR_MS;
    if (isLate) late.add(reading.id);
    turns.push({ id: reading.id, startMs, endMs: timeMs, isLate });
    enqueue(queue, { reading, dueMs: startMs + intervalHoursOf(reading) * HOUR_MS });
  }
  // A reading that the simulation never reaches is late once its promise has passed.
  for (const [cadence, { items, next }] of queues) {
    const promised = promisedHours[cadence];
    if (promised === null) continue;
    for (const { reading, dueMs } of items.slice(next)) {
      if (endMs > dueMs + (promised - READ_INTERVAL_HOURS[cadence]) * HOUR_MS) late.add(reading.id);
    }
  }
  return { ...costOf(readings, callsPerHour), late: [...late], turns };
};
