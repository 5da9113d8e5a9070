import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServiceError } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { type EncodedEvent, type Recorded, openAppendStream } from '../append-stream.ts';
import { EventStoreSilent, toCommandError } from '../errors.ts';
import { connectToNode } from '../node-connection.ts';
import { allFrom, openReadCall, type ReadAnswer, readOptions, type ReadRecord } from '../read-call.ts';

/** Parses nothing, so no number or text of a copy changes. */

/** Reads to the end of the log. */
const UNLIMITED = '9223372036854775807';
const APPEND_TIMEOUT_MS = 30_000;
/** For the next event of a read, the connection included. */
const READ_SILENCE_MS = 30_000;
/** Only looks count, so that a process that was held up does not blame the server. */
const SILENT_LOOKS = 10;
/** Appends of one hour share a deadline: with their own, a server could drop one as late and still write the next. */
const HOUR_MS = 3_600_000;

export type RawEvent = EncodedEvent & {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** When this server recorded the event, in RFC 3339. */
  readonly at: string;
};

/** Sends nothing after an append that was not recorded, also to other streams. */
export type LogWriter = AsyncDisposable & {
  /** The stream must end right before `first`. After a failure all other appends are rejected with its error. */
  append(stream: string, first: bigint, events: readonly EncodedEvent[]): Promise<Recorded>;
};

/** Shows streams without `$`, and their metadata. */
export type RawLog = {
  /** `after`: commit position, exclusive; `null`: from the beginning. */
  forwards(after: bigint | null): AsyncGenerator<RawEvent>;
  /** `before`: commit position, exclusive; `null`: from the end. */
  backwards(before: bigint | null): AsyncGenerator<RawEvent>;
  /** `null` when no event of our own stands there. */
  at(position: bigint): Promise<RawEvent | null>;
  /** `null` when a read of the stream does not show the event. */
  find(stream: string, revision: bigint): Promise<RawEvent | null>;
  /** From the beginning to the present end. An absent stream is empty. */
  stream(name: string): AsyncGenerator<RawEvent>;
  openWriter(): LogWriter;
};

const isOwnStream = (stream: string): boolean => !stream.startsWith('$') || /^\$\$[^$]/.test(stream);

const toRaw = ({ createdMs, ...record }: ReadRecord): RawEvent => ({
  ...record,
  at: new Date(createdMs).toISOString(),
});

const unfiltered = (count: string): streams.ReadReq.Options =>
  readOptions().setCount(count).setNoFilter(new empty.Empty());

const ofAll = (from: bigint | null, backwards: boolean, count = UNLIMITED): streams.ReadReq.Options =>
  unfiltered(count)
    .setReadDirection(backwards ? 1 : 0)
    .setAll(allFrom(from, backwards));

const ofStream = (stream: string, revision: bigint, count = '1'): streams.ReadReq.Options => {
  const target = new streams.ReadReq.Options.StreamOptions();
  target.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8')));
  target.setRevision(String(revision));
  return unfiltered(count).setStream(target);
};

const deadline = (): Date => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS);

/** Does not count the time that the reader works on an event. The first event has `spentMs` less. */
const watchSilence = (silenceMs: number, spentMs: number, onSilent: () => void) => {
  let looks = Math.floor((spentMs / silenceMs) * SILENT_LOOKS);
  let isWaiting = true;
  const timer = setInterval(() => {
    if (!isWaiting || (looks += 1) < SILENT_LOOKS) return;
    clearInterval(timer);
    onSilent();
  }, silenceMs / SILENT_LOOKS);
  return {
    setWaiting: (waiting: boolean): void => {
      isWaiting = waiting;
      looks = 0;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
};

const openWriter = (url: string): LogWriter => {
  const appends = openAppendStream(url, { endsWithFailure: true });
  return {
    append: (stream, first, events) =>
      appends.append({ stream, expected: first - 1n, events, deadline: deadline() }, APPEND_TIMEOUT_MS),
    [Symbol.asyncDispose]: () => appends[Symbol.asyncDispose](),
  };
};

/** Connects with each read, so that the next one survives a broken or silent connection. */
export const openRawLog = (url: string, silenceMs: number = READ_SILENCE_MS): RawLog => {
  const read = async function* (options: streams.ReadReq.Options): AsyncGenerator<RawEvent> {
    const since = performance.now();
    const connection = await connectToNode(url, {}, silenceMs);
    const spentMs = performance.now() - since;
    const call = openReadCall(connection, options);
    // A call that is cancelled before its end emits an error that nothing else listens to.
    call.on('error', () => undefined);
    using silence = watchSilence(silenceMs, spentMs, () => call.destroy(new EventStoreSilent(silenceMs)));
    try {
      for await (const answer of call as AsyncIterable<ReadAnswer>) {
        silence.setWaiting(false);
        if (answer.kind === 'event') yield toRaw(answer.record);
        silence.setWaiting(true);
      }
    } catch (error) {
      throw toCommandError(error as ServiceError);
    } finally {
      call.cancel();
      connection.client.close();
    }
  };
  const own = async function* (
    options: streams.ReadReq.Options,
    except: bigint | null,
  ): AsyncGenerator<RawEvent> {
    for await (const event of read(options)) {
      if (event.position !== except && isOwnStream(event.stream)) yield event;
    }
  };

  return {
    forwards: (after) => own(ofAll(after, false), after),
    backwards: (before) => own(ofAll(before, true), before),
    at: async (position) => {
      for await (const event of own(ofAll(position, false, '1'), null)) {
        if (event.position === position) return event;
      }
      return null;
    },
    find: async (stream, revision) => {
      for await (const event of read(ofStream(stream, revision))) {
        if (event.revision === revision) return event;
      }
      return null;
    },
    stream: (name) => read(ofStream(name, 0n, UNLIMITED)),
    openWriter: () => openWriter(url),
  };
};
