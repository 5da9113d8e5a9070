import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { UnavailableError, UnknownError } from '@eventstore/db-client';
import type { ServiceError, ClientDuplexStream } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { Event, EventMetadata } from '#contracts/events/event.ts';
import {
  EventStoreDenied,
  EventStoreBusy,
  EventStoreSilent,
  isConnectionFault,
  toCommandError,
} from './errors.ts';
import { randomUUID } from 'node:crypto';
import { connectToNode, type Hint, type NodeConnection } from './node-connection.ts';

/** Written and read with the package's generated classes. */

export const BATCH_APPEND = '/event_store.client.streams.Streams/BatchAppend';
export const JSON_CONTENT = 'application/json';

export type EncodedEvent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** -1n: no stream. */
export type Expected = bigint | 'any';

/** Revision and commit position of the last event appended. */
export type Recorded = { readonly revision: bigint; readonly position: bigint };

const uuid = (text: string): shared.UUID => new shared.UUID().setString(text);

const proposed = ({ id, type, contentType, data, metadata }: EncodedEvent) => {
  const message = new streams.BatchAppendReq.ProposedMessage();
  message.setId(uuid(id));
  message.getMetadataMap().set('type', type);
  message.getMetadataMap().set('content-type', contentType);
  message.setData(data);
  message.setCustomMetadata(metadata);
  return message;
};

/** The server drops an append that it has not begun by the deadline. */
export const encodeAppend = (
  correlation: string,
  stream: string,
  expected: Expected,
  events: readonly EncodedEvent[],
  deadline: Date,
): Buffer => {
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8')));
  options.setDeadline(timestamps.Timestamp.fromDate(deadline));
  if (expected === 'any') options.setAny(new empty.Empty());
  else if (expected < 0n) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streams.BatchAppendReq();
  request.setCorrelationId(uuid(correlation));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(proposed));
  request.setIsFinal(true);
  return Buffer.from(request.serializeBinary());
};

export type AppendAnswer = { readonly correlation: string } & (
  | { readonly recorded: Recorded }
  | { readonly error: Error }
);

/** A UUID is text, or two halves of 64 bits. */
const uuidText = (id: shared.UUID | undefined): string => {
  const structured = id?.getStructured();
  if (!structured) return id?.getString() ?? '';
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** Codes of google.rpc.Status that no repetition makes right. */
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;
const UNAVAILABLE = 14;
const ACCESS_DENIED = 'event_store.client.AccessDenied';
const TOO_LARGE = 'event_store.client.MaximumAppendSizeExceeded';

const errorOf = (response: streams.BatchAppendResp): Error => {
  const stream = Buffer.from(response.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');
  const status = response.getError();
  const name = status?.getDetails()?.getTypeName() ?? '';
  const message = status?.getMessage() || 'no reason given';
  const code = Number(status?.getCode());
  if (name === ACCESS_DENIED || code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    return new EventStoreDenied(new Error(message));
  }
  if (code === INVALID_ARGUMENT && name !== TOO_LARGE) {
    return new UnknownError({ message: `refused: ${message}`, code: INVALID_ARGUMENT } as ServiceError);
  }
  // A server that starts, is busy or looks for its leader answers in words, without a type.
  if (!status || !name.startsWith('event_store.client.')) {
    return new UnavailableError({ message: `not ready: ${message}`, code: UNAVAILABLE } as ServiceError);
  }
  return unpackToCommandError(status, stream);
};

export const decodeAnswer = (bytes: Buffer): AppendAnswer => {
  const response = streams.BatchAppendResp.deserializeBinary(bytes);
  const correlation = uuidText(response.getCorrelationId());
  const success = response.getSuccess();
  if (!success) return { correlation, error: errorOf(response) };
  return {
    correlation,
    recorded: {
      revision: success.hasCurrentRevision() ? BigInt(success.getCurrentRevision()) : -1n,
      position: BigInt(success.getPosition()?.getCommitPosition() ?? 0),
    },
  };
};

/** The server's limit is 1 MiB; the rest is for framing. */
const APPEND_MAX_BYTES = 900_000;
const FRAMING_BYTES = 200;
const APPEND_MAX_EVENTS = 1_000;

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

export const encodeEvent = (event: Event, id: string, metadata: Partial<EventMetadata>): EncodedEvent => ({
  id,
  type: event.type,
  contentType: JSON_CONTENT,
  data: jsonBytes(event.data),
  metadata: jsonBytes(metadata),
});

export const countedBytes = ({
  type,
  data,
  metadata,
}: Pick<EncodedEvent, 'type' | 'data' | 'metadata'>): number =>
  data.length + metadata.length + 2 * type.length;

export const sizeOf = (event: EncodedEvent): number => countedBytes(event) + FRAMING_BYTES;

/** A single larger event is a slice of its own: the server refuses it with a clear error. */
export const slicesOf = <E extends EncodedEvent>(events: readonly E[]): readonly (readonly E[])[] => {
  const slices: E[][] = [];
  let slice: E[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = sizeOf(event);
    if (slice.length > 0 && (bytes + size > APPEND_MAX_BYTES || slice.length >= APPEND_MAX_EVENTS)) {
      slices.push(slice);
      slice = [];
      bytes = 0;
    }
    slice.push(event);
    bytes += size;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
};

/** The package has one table of answers, so that one broken connection fails all. Here each call has its own. */

/** Maximum for appends without an answer of the server. */
export const IN_FLIGHT_MAX = 256;
export const IN_FLIGHT_MAX_BYTES = 8 * 1024 * 1024;
/** Further appends are refused at once. */
export const WAITING_MAX = 1_000;
const SILENT_MAX = 3;
/** A node that only refuses may be cut off from its cluster while another one leads, so its connection is replaced. */
const REFUSING_LIMIT_MS = 500;
/** Only time in which this process ran counts: otherwise answers may have arrived that it has not read yet. */
const SWEEP_MS = 50;
/** Long, because the server's clock may differ. */
const SERVER_DEADLINE_MS = 10_000;

export type AppendRequest = {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly EncodedEvent[];
  /** The server must begin the append by then. Default: 10 s from now, or later if the answer may take longer. */
  readonly deadline?: Date;
};

export type AppendStreamOptions = {
  /** After a failure nothing is sent, for a writer that needs its appends in order across streams. Default: false. */
  readonly endsWithFailure?: boolean;
};

export type AppendStream = AsyncDisposable & {
  /** Rejects with `EventStoreSilent` when no answer arrives in time, the wait here included. */
  append(request: AppendRequest, withinMs: number): Promise<Recorded>;
};

type Pending = {
  readonly correlation: string;
  readonly message: Buffer;
  /** Milliseconds awake left for the answer. */
  leftMs: number;
  readonly withinMs: number;
  readonly settle: (outcome: Recorded | Error) => void;
};

type Call = {
  readonly node: NodeConnection;
  readonly duplex: ClientDuplexStream<Buffer, Buffer>;
  readonly unanswered: Map<string, Pending>;
  bytes: number;
};

const AS_IS = (bytes: Buffer): Buffer => bytes;

const isRecorded = (outcome: Recorded | Error): outcome is Recorded => !(outcome instanceof Error);

/** Hint for the next connection, after an error that ended a call. */
const hintAfter = (error: Error, { endpoint }: NodeConnection): Hint => {
  const leader = (error as { leader?: NodeConnection['endpoint'] }).leader;
  return leader ? { leader, failed: endpoint } : { failed: endpoint };
};

/** Connects with the first append, and again when it must. */
export const openAppendStream = (
  url: string,
  { endsWithFailure = false }: AppendStreamOptions = {},
): AppendStream => {
  const waiting: Pending[] = [];
  let call: Call | null = null;
  let connecting: Promise<void> | null = null;
  let hint: Hint = {};
  let silentInARow = 0;
  /** The first refusal of a node that has since only refused appends. */
  let refusing: { readonly error: Error; readonly sinceMs: number } | null = null;
  let ended: Error | null = null;

  /** The next append opens another call. */
  const endCall = (last: Call, error: Error): void => {
    if (call === last) {
      call = null;
      hint = hintAfter(error, last.node);
      silentInARow = 0;
      refusing = null;
    }
    last.duplex.cancel();
    last.node.client.close();
    const failed = [...last.unanswered.values()];
    last.unanswered.clear();
    for (const pending of failed) pending.settle(error);
    if (endsWithFailure && failed.length > 0) end(error);
    if (waiting.length > 0 && !call && !ended) connecting ??= connect();
  };

  const end = (error: Error): void => {
    if (ended) return;
    ended = error;
    if (call) endCall(call, error);
    for (const pending of waiting.splice(0)) pending.settle(error);
  };

  const finish = (pending: Pending, outcome: Recorded | Error): void => {
    pending.settle(outcome);
    if (endsWithFailure && !isRecorded(outcome)) end(outcome);
  };

  const take = (from: Call, bytes: Buffer): void => {
    const answer = decodeAnswer(bytes);
    const outcome = 'recorded' in answer ? answer.recorded : answer.error;
    const refusal = !isRecorded(outcome) && isConnectionFault(outcome) ? outcome : null;
    if (!refusal) silentInARow = 0;
    if (call === from) refusing = refusal && (refusing ?? { error: refusal, sinceMs: performance.now() });
    const pending = from.unanswered.get(answer.correlation);
    // Otherwise it is a late answer to an append whose time is over. Nothing waits for it.
    if (pending) {
      forget(from, pending);
      finish(pending, outcome);
    }
    if (call === from) send(from);
  };

  const leaveRefusing = (left: Call): void => {
    if (refusing && performance.now() - refusing.sinceMs >= REFUSING_LIMIT_MS) endCall(left, refusing.error);
  };

  const forget = (from: Call, pending: Pending): void => {
    if (from.unanswered.delete(pending.correlation)) from.bytes -= pending.message.length;
  };

  const open = (node: NodeConnection): Call => {
    const duplex = node.client.makeBidiStreamRequest(BATCH_APPEND, AS_IS, AS_IS, node.metadata, {
      deadline: Number.POSITIVE_INFINITY,
    });
    const opened: Call = { node, duplex, unanswered: new Map(), bytes: 0 };
    duplex.on('data', (bytes: Buffer) => {
      try {
        take(opened, bytes);
      } catch (error) {
        endCall(opened, error as Error);
      }
    });
    duplex.on('error', (error: ServiceError) => endCall(opened, toCommandError(error)));
    duplex.on('end', () => endCall(opened, new EventStoreBusy('it ended the stream of appends')));
    return opened;
  };

  const hasRoom = ({ unanswered, bytes }: Call, next: Pending): boolean =>
    unanswered.size === 0 ||
    (unanswered.size < IN_FLIGHT_MAX && bytes + next.message.length <= IN_FLIGHT_MAX_BYTES);

  const send = (to: Call): void => {
    for (let next = waiting[0]; next && hasRoom(to, next); next = waiting[0]) {
      waiting.shift();
      to.unanswered.set(next.correlation, next);
      to.bytes += next.message.length;
      to.duplex.write(next.message);
    }
  };

  const connect = async (): Promise<void> => {
    const used = hint;
    hint = {};
    try {
      const node = await connectToNode(url, used);
      if (ended) return node.client.close();
      call = open(node);
      send(call);
    } catch (error) {
      for (const pending of waiting.splice(0)) finish(pending, error as Error);
    } finally {
      connecting = null;
    }
  };

  const giveUp = (pending: Pending): void => {
    const error = new EventStoreSilent(pending.withinMs);
    const at = waiting.indexOf(pending);
    if (at >= 0) waiting.splice(at, 1);
    const carrier = call?.unanswered.has(pending.correlation) ? call : null;
    if (carrier) forget(carrier, pending);
    finish(pending, error);
    if (!carrier || ended) return;
    silentInARow += 1;
    if (silentInARow >= SILENT_MAX) endCall(carrier, error);
  };

  let sweeper: NodeJS.Timeout | undefined;
  let sweptAt = 0;
  /** Gives up overdue appends. Stops itself when nothing waits. */
  const sweep = (): void => {
    const now = performance.now();
    const awakeMs = Math.min(now - sweptAt, 2 * SWEEP_MS);
    sweptAt = now;
    const inTurn = [...(call?.unanswered.values() ?? []), ...waiting];
    for (const pending of inTurn) pending.leftMs -= awakeMs;
    for (const pending of inTurn) if (pending.leftMs <= 0 && isOpen(pending)) giveUp(pending);
    if (call) send(call);
    if (call?.unanswered.size || waiting.length > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };
  /** False once its call has ended with an earlier one of the same sweep. */
  const isOpen = (pending: Pending): boolean =>
    call?.unanswered.has(pending.correlation) === true || waiting.includes(pending);
  const startSweeper = (): void => {
    if (sweeper) return;
    sweptAt = performance.now();
    sweeper = setInterval(sweep, SWEEP_MS);
  };

  return {
    append: ({ stream, expected, events, deadline }, withinMs) => {
      if (ended) return Promise.reject(ended);
      if (waiting.length >= WAITING_MAX) {
        return Promise.reject(new EventStoreBusy(`${WAITING_MAX} appends wait for it`));
      }
      const correlation = randomUUID();
      const beginBy = deadline ?? new Date(Date.now() + Math.max(withinMs, SERVER_DEADLINE_MS));
      const message = encodeAppend(correlation, stream, expected, events, beginBy);
      return new Promise((resolve, reject) => {
        const settle = (outcome: Recorded | Error): void =>
          isRecorded(outcome) ? resolve(outcome) : reject(outcome);
        waiting.push({ correlation, message, leftMs: withinMs, withinMs, settle });
        startSweeper();
        if (call) leaveRefusing(call);
        if (call) send(call);
        else connecting ??= connect();
      });
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(sweeper);
      end(new EventStoreBusy('it is being closed'));
    },
  };
};
