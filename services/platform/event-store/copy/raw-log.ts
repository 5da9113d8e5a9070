import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServiceError } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { EncodedEvent, Recorded } from '../append/append-message.ts';
import { openAppendStream } from '../append/append-stream.ts';
import { EventStoreSilent, toCommandError } from '../errors.ts';
import { connectToNode } from '../node-connection.ts';

/** A log as bytes, for copies: nothing is parsed, so no number or text changes. */

const READ = '/event_store.client.streams.Streams/Read';
/** The count of a read that ends with the log. */
const UNLIMITED = '9223372036854775807';
/** Ticks of 100 ns per millisecond. */
const TICKS_PER_MS = 10_000n;
/** Maximum milliseconds to wait for the answer to an append of a copy. */
const APPEND_TIMEOUT_MS = 30_000;
/** Maximum milliseconds to wait for the next event of a read, the connection included. */
const READ_SILENCE_MS = 30_000;
/** Looks per wait for the next event. Only looks count, so that a process that was held up does not blame the server. */
const SILENT_LOOKS = 10;
/**
 * Unit of the server-side deadlines. Appends of one hour share a deadline. With deadlines of their own, a server that
 * was held up could drop one append as late and still write the next one.
 */
const HOUR_MS = 3_600_000;

/** An event as the server holds it. */
export type RawEvent = EncodedEvent & {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit position. */
  readonly position: bigint;
  /** When this server recorded it, in RFC 3339. */
  readonly at: string;
};

/** Appends in order, also those to different streams: nothing is sent after one that was not recorded. */
export type LogWriter = AsyncDisposable & {
  /**
   * Appends to a stream. The first event gets the revision `first`; the stream must end right before it. After a failure, all
   * other appends and later ones are rejected with its error.
   */
  append(stream: string, first: bigint, events: readonly EncodedEvent[]): Promise<Recorded>;
};

/** A log of which our own events are read: those of streams without `$`, and the metadata of these streams. */
export type RawLog = {
  /** Reads from after a commit position, or from the beginning, to the present end. */
  forwards(after: bigint | null): AsyncGenerator<RawEvent>;
  /** Reads from before a commit position, or from the end, to the beginning. */
  backwards(before: bigint | null): AsyncGenerator<RawEvent>;
  /** Returns the event at a commit position; `null` when no event of our own stands there. */
  at(position: bigint): Promise<RawEvent | null>;
  /** Returns an event of a stream; `null` when a read of the stream does not show it. */
  find(stream: string, revision: bigint): Promise<RawEvent | null>;
  openWriter(): LogWriter;
};

/** True for our own streams and their metadata. Other streams belong to the server. */
const isOwnStream = (stream: string): boolean => !stream.startsWith('$') || /^\$\$[^$]/.test(stream);

const toRaw = (event: streams.ReadResp.ReadEvent.RecordedEvent): RawEvent => {
  const properties = event.getMetadataMap();
  const createdMs = BigInt(properties.get('created') ?? 0) / TICKS_PER_MS;
  return {
    stream: Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8'),
    revision: BigInt(event.getStreamRevision()),
    position: BigInt(event.getCommitPosition()),
    at: new Date(Number(createdMs)).toISOString(),
    id: event.getId()?.getString() ?? '',
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? 'application/octet-stream',
    data: event.getData_asU8(),
    metadata: event.getCustomMetadata_asU8(),
  };
};

const optionsOf = (count: string, backwards: boolean): streams.ReadReq.Options => {
  const options = new streams.ReadReq.Options();
  options.setCount(count);
  options.setReadDirection(backwards ? 1 : 0);
  options.setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new empty.Empty()));
  options.setNoFilter(new empty.Empty());
  return options;
};

const ofAll = (from: bigint | null, backwards: boolean, count = UNLIMITED): streams.ReadReq.Options => {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from !== null) {
    const position = new streams.ReadReq.Options.Position();
    position.setCommitPosition(String(from));
    position.setPreparePosition(String(from));
    all.setPosition(position);
  } else if (backwards) all.setEnd(new empty.Empty());
  else all.setStart(new empty.Empty());
  return optionsOf(count, backwards).setAll(all);
};

const ofStream = (stream: string, revision: bigint): streams.ReadReq.Options => {
  const target = new streams.ReadReq.Options.StreamOptions();
  target.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8')));
  target.setRevision(String(revision));
  return optionsOf('1', false).setStream(target);
};

const deadline = (): Date => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS);

/**
 * Calls back once, when the next event has not arrived in time; the first one `spentMs` sooner. The time that the reader works on
 * an event does not count.
 */
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

/**
 * Opens a log. It connects with each read. A broken connection, or one on which nothing arrives for `silenceMs`, fails the read,
 * and the next one connects again.
 */
export const openRawLog = (url: string, silenceMs: number = READ_SILENCE_MS): RawLog => {
  const read = async function* (options: streams.ReadReq.Options): AsyncGenerator<RawEvent> {
    const since = performance.now();
    const { client, metadata } = await connectToNode(url, {}, silenceMs);
    const spentMs = performance.now() - since;
    const call = client.makeServerStreamRequest(
      READ,
      (request: streams.ReadReq) => Buffer.from(request.serializeBinary()),
      (bytes: Buffer) => streams.ReadResp.deserializeBinary(bytes),
      new streams.ReadReq().setOptions(options),
      metadata,
      { deadline: Number.POSITIVE_INFINITY },
    );
    // A call that is cancelled before its end emits an error that nothing else listens to.
    call.on('error', () => undefined);
    using silence = watchSilence(silenceMs, spentMs, () => call.destroy(new EventStoreSilent(silenceMs)));
    try {
      for await (const response of call as AsyncIterable<streams.ReadResp>) {
        silence.setWaiting(false);
        const event = response.getEvent()?.getEvent();
        if (event) yield toRaw(event);
        silence.setWaiting(true);
      }
    } catch (error) {
      throw toCommandError(error as ServiceError);
    } finally {
      call.cancel();
      client.close();
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
    openWriter: () => openWriter(url),
  };
};
