import { randomUUID } from 'node:crypto';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { type Read, type Shown, tellCalls, UNKNOWN, unanswered, type Write } from './history.ts';
import type { Choose, Kind } from './kinds/kind.ts';
import { isLinearizable, smallestUnexplained } from './linearizability.ts';
import { asksToRepeat, type Session } from './session.ts';
import { brokenReads, smallestBroken } from './session-reads.ts';

const READS_OF_100 = 40;

type Named = { readonly kind: string };

export type Findings = {
  readonly writes: number;
  readonly answered: number;
  readonly reads: number;
  /** Writes of each object that contradict each other, a line each. */
  readonly unexplained: readonly string[];
  readonly doubled: readonly string[];
  /** Reads that are older than their caller knew, a line each. */
  readonly stale: readonly string[];
  /** Fewest calls with a stale read, a line each. */
  readonly contradiction: string;
};

export type KindRecord = {
  readonly name: string;
  /** Prefix of stream names. */
  readonly streams: string;
  act(session: Session, choose: Choose): Promise<void>;
  read(session: Session): Promise<void>;
  /** `log`: events of the workspace, in order. */
  check(log: readonly RecordedEvent[]): Findings;
};

/** Ids that a stream holds twice: a command was recorded again. */
export const doubledEvents = (events: readonly RecordedEvent[]): readonly string[] =>
  [...Map.groupBy(events, ({ stream, id }) => `${stream} ${id}`)]
    .filter(([, same]) => same.length > 1)
    .map(
      ([name, same]) =>
        `${same[0]?.type} of ${name}: revisions ${same.map(({ revision }) => revision).join(', ')}`,
    );

export const createRecord = <Operation extends Named, Outcome extends Named, State, E extends Event>(
  kind: Kind<Operation, Outcome, State, E>,
  onWrite: (write: Write<Operation, Outcome>, data: unknown, session: Session) => Promise<void> | void = () =>
    undefined,
): KindRecord & { readonly writes: readonly Write<Operation, Outcome>[] } => {
  const writes: Write<Operation, Outcome>[] = [];
  const reads: Read[] = [];
  const ids = new Set<string>();
  let texts = 0;

  const saw = (call: Pick<Read, 'caller' | 'sentMs' | 'endedMs' | 'isWhole'>, shown: Shown): void => {
    reads.push({ ...call, shown });
    for (const id of shown.keys()) if (id !== kind.untouched) ids.add(id);
  };

  const write = async (session: Session, choose: Choose): Promise<void> => {
    const { caller } = session;
    texts += 1;
    const operation = kind.choose(choose, { ids: [...ids], text: `text ${texts}` });
    const sentMs = Date.now();
    const request = kind.requestOf(operation);
    // Only a POST has an idempotency key. The repetition of another request would be another call, so it is sent once.
    const reply =
      request.method === 'POST'
        ? await session.repeat(request, randomUUID())
        : await session.send(request).catch(() => null);
    const endedMs = Date.now();
    if (reply === null || asksToRepeat(reply)) {
      writes.push(unanswered({ caller, sentMs, endedMs, operation, outcome: UNKNOWN, position: null }));
      return;
    }
    const outcome = kind.outcomeOf(operation, reply);
    if (outcome === null) {
      const { status, message } = reply;
      throw new Error(`${operation.kind} of ${kind.name} was answered ${status}: ${message}`);
    }
    const done = { caller, sentMs, endedMs, operation, outcome, position: reply.position };
    writes.push(done);
    if (kind.showing.has(operation.kind) && reply.status < 300) {
      saw({ caller, sentMs: endedMs, endedMs, isWhole: false }, new Map([kind.recordOf(reply.data)]));
    }
    await onWrite(done, reply.data, session);
  };

  const read = async (session: Session): Promise<void> => {
    const { caller } = session;
    const sentMs = Date.now();
    const reply = await session.repeat({ method: 'GET', path: `${kind.path}?limit=100` });
    if (reply?.status !== 200)
      throw new Error(`a read of ${kind.name} was answered ${reply?.status}: ${reply?.message}`);
    const shown = new Map((reply.data as readonly unknown[]).map(kind.recordOf));
    saw({ caller, sentMs, endedMs: Date.now(), isWhole: true }, shown);
  };

  return {
    name: kind.name,
    streams: kind.streams,
    writes,
    act: (session, choose) => (choose(100) < READS_OF_100 ? read(session) : write(session, choose)),
    read,
    check: (log) => {
      const events = log.filter(({ stream }) => stream.startsWith(kind.streams)) as RecordedEvent<E>[];
      const unexplained = kind
        .objectsOf(writes, events)
        .filter(({ model, calls }) => !isLinearizable(model, calls))
        .map((object) => tellCalls(smallestUnexplained(object, object.parts, unanswered)));
      const streams = {
        prefixes: kind.prefixesOf(events),
        positions: events.map(({ position }) => position),
      };
      const history = { writes, reads };
      const stale = brokenReads(history, streams);
      return {
        writes: writes.length,
        answered: writes.filter(({ outcome }) => outcome.kind !== 'unknown').length,
        reads: reads.length,
        unexplained,
        doubled: doubledEvents(events),
        stale,
        contradiction:
          stale.length === 0 ? '' : tellCalls(Object.values(smallestBroken(history, streams)).flat()),
      };
    },
  };
};
