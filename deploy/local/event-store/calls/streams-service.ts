import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
  type ServerWritableStream,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
} from '@grpc/grpc-js';
import {
  decodeDeletion,
  type AppendOptions,
  BadEvent,
  type BatchPart,
  decodeAppendPart,
  decodeBatchPart,
} from '../wire/append-codec.ts';
import {
  deletionSuccess,
  appendConflict,
  appendSuccess,
  batchRefusal,
  batchSuccess,
} from '../wire/append-replies.ts';
import { CallWriter } from '../wire/flow-control.ts';
import { refusalError, thrownError, type CallError, callError, unavailable } from '../wire/error-trailers.ts';
import type { Writer } from '../write/writer.ts';
import { decodeRead, encodeEvent, type ReadOptions, streamNotFound } from '../wire/read-codec.ts';
import { StreamDeleted, StreamNotFound } from '../read/reader.ts';
import { type SubscriptionSources, subscribeToAll, subscribeToStream } from '../read/subscriptions.ts';
import type { ProposedEvent, Refusal, WriteOutcome } from '../model.ts';
import { MalformedMessage } from '../wire/protobuf.ts';

/** Default of the real server. Counts data, metadata and two bytes per character of the type. */
const MAX_APPEND_BYTES = 1024 * 1024;
const MAX_UNFINISHED = 1_000;

/** Collects the parts of one append, and stops keeping them when it will be refused. */
class Draft {
  readonly options: AppendOptions;
  readonly events: ProposedEvent[] = [];
  refusal: Refusal | null = null;
  missing: string | null = null;
  #bytes = 0;

  constructor(options: AppendOptions) {
    this.options = options;
    if (options.nameFault !== null) this.#refuse({ kind: 'bad-request', message: options.nameFault });
  }

  add(event: ProposedEvent | BadEvent): void {
    if (this.refusal !== null) return;
    if (event instanceof BadEvent) {
      this.missing = event.missing;
      this.#refuse({ kind: 'bad-request', message: event.message });
      return;
    }
    this.#bytes += event.data.length + event.metadata.length + 2 * event.type.length;
    if (this.#bytes > MAX_APPEND_BYTES) {
      this.#refuse({ kind: 'maximum-append-size-exceeded', limitBytes: MAX_APPEND_BYTES });
      return;
    }
    this.events.push(event);
  }

  submit(writer: Writer, deadlineMs: number, settle: (outcome: WriteOutcome) => void): void {
    if (this.refusal !== null) {
      settle(this.refusal);
      return;
    }
    const { stream, expected } = this.options;
    writer.submit({ kind: 'append', stream, expected, events: this.events, deadlineMs, settle });
  }

  #refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.events.length = 0;
  }
}

/** One call per client for all appends. Each is answered by its correlation id once it is durable. */
function serveBatchAppend(call: ServerDuplexStream<Buffer, Buffer>, writer: Writer): CallWriter {
  const out = new CallWriter(call);
  const drafts = new Map<string, Draft>();
  let unanswered = 0;
  let hasEnded = false;

  function answer(part: BatchPart, draft: Draft, outcome: WriteOutcome): void {
    unanswered -= 1;
    const { identifier } = draft.options;
    if (outcome.kind === 'written') out.send(batchSuccess(part.correlation, identifier, outcome));
    else if (outcome.kind === 'unavailable') out.fail(unavailable(outcome.message));
    else out.send(batchRefusal(part.correlation, identifier, outcome));
    if (hasEnded && unanswered === 0) out.finish();
  }

  function take(part: BatchPart): void {
    const key = part.correlation.toString('latin1');
    const draft = drafts.get(key) ?? beginDraft(part);
    for (const event of part.events) draft.add(event);
    if (!part.isFinal) {
      if (drafts.size >= MAX_UNFINISHED) throw new MalformedMessage('Too many appends are unfinished.');
      drafts.set(key, draft);
      return;
    }
    drafts.delete(key);
    unanswered += 1;
    draft.submit(writer, draft.options.deadlineMs, (outcome) => answer(part, draft, outcome));
  }

  call.on('data', (message: Buffer) => {
    if (out.isOver) return;
    try {
      take(decodeBatchPart(message));
    } catch (error) {
      out.fail(thrownError(error));
    }
    if (writer.isFull) {
      call.pause();
      writer.onRelief(() => call.resume());
    }
  });
  call.on('end', () => {
    hasEnded = true;
    if (unanswered === 0) out.finish();
  });
  return out;
}

function beginDraft(part: BatchPart): Draft {
  if (part.options === null) throw new MalformedMessage('The first part of an append names its stream.');
  return new Draft(part.options);
}

/** For clients that send credentials with the call or do not support batches. */
function serveAppend(
  call: ServerReadableStream<Buffer, Buffer>,
  answer: sendUnaryData<Buffer>,
  writer: Writer,
): void {
  let draft: Draft | null = null;
  let isAnswered = false;

  function reply(...args: Parameters<sendUnaryData<Buffer>>): void {
    if (isAnswered) return;
    isAnswered = true;
    answer(...args);
  }

  function settle({ options, missing }: Draft, outcome: WriteOutcome): void {
    if (outcome.kind === 'written') reply(null, appendSuccess(outcome));
    else if (outcome.kind === 'wrong-expected-version') reply(null, appendConflict(outcome));
    else reply(refusalError(options.stream, outcome, missing));
  }

  call.on('data', (message: Buffer) => {
    if (isAnswered) return;
    try {
      const part = decodeAppendPart(message);
      if ('options' in part) draft = new Draft(part.options);
      else if (draft === null) throw new MalformedMessage('The first message of an append names its stream.');
      else draft.add(part.event);
    } catch (error) {
      reply(thrownError(error));
    }
  });
  call.on('end', () => {
    if (draft === null) {
      reply(callError(status.INVALID_ARGUMENT, 'The append is empty.'));
      return;
    }
    const finished = draft;
    finished.submit(writer, deadlineOf(call), (outcome) => settle(finished, outcome));
  });
}

/** In ms. An append is dropped once its caller has stopped waiting. */
function deadlineOf(call: { getDeadline(): Date | number }): number {
  return Number(call.getDeadline());
}

interface ReadContext extends SubscriptionSources {
  /** False while the store cannot reach its database. */
  isAvailable(): boolean;
}

function serveRead(call: ServerWritableStream<Buffer, Buffer>, context: ReadContext): CallWriter {
  const out = new CallWriter(call);
  sendRead(call.request, context, out).catch((error: unknown) => out.fail(thrownError(error)));
  return out;
}

async function sendRead(request: Buffer, context: ReadContext, out: CallWriter): Promise<void> {
  const options = decodeRead(request);
  if (options.resolveLinks) {
    out.fail(
      callError(status.UNIMPLEMENTED, 'Links are not resolved here: read the stream that holds the events.'),
    );
    return;
  }
  if (options.filter !== null && (options.maxCount !== null || options.stream !== null)) {
    const sentence = 'Only subscriptions to $all are filtered here: subscribe, and stop at caughtUp.';
    out.fail(callError(status.UNIMPLEMENTED, sentence));
    return;
  }
  if (options.maxCount !== null && options.stream !== null && options.from === 'end' && !options.backwards) {
    // As EventStoreDB answers. From a revision behind the end, both return nothing.
    out.fail(callError(status.UNKNOWN, 'Unexpected ReadStreamResult: Error'));
    return;
  }
  if (!context.isAvailable()) throw new Error('The event store cannot reach its database.');
  try {
    if (options.maxCount !== null) await sendPages(options, options.maxCount, context, out);
    else if (options.stream === null) await subscribeToAll(options, context, out);
    else await subscribeToStream(options.stream, options, context, out);
  } catch (error) {
    if (error instanceof StreamDeleted) out.fail(deletedError(options));
    else if (error instanceof StreamNotFound) {
      out.send(streamNotFound(options.identifier));
      out.finish();
    } else throw error;
  }
}

async function sendPages(
  options: ReadOptions,
  maxCount: number,
  { reader }: ReadContext,
  out: CallWriter,
): Promise<void> {
  for await (const page of reader.read(options, Math.min(maxCount, Number.MAX_SAFE_INTEGER))) {
    for (const event of page) {
      if (out.isFull) await out.untilWritable();
      if (out.isOver) return;
      out.send(encodeEvent(event));
    }
  }
  out.finish();
}

function deletedError(options: ReadOptions): CallError {
  return refusalError(options.stream ?? '', { kind: 'stream-deleted' });
}

export interface StreamsContext extends ReadContext {
  readonly writer: Writer;
  onOpen(call: CallWriter): void;
}

export const STREAMS = 'event_store.client.streams.Streams';

/** Messages stay bytes, because the codecs read and write bytes. */
const IDENTITY = (bytes: Buffer): Buffer => bytes;

function method(name: string, requestStream: boolean, responseStream: boolean) {
  return {
    path: `/${STREAMS}/${name}`,
    requestStream,
    responseStream,
    requestSerialize: IDENTITY,
    requestDeserialize: IDENTITY,
    responseSerialize: IDENTITY,
    responseDeserialize: IDENTITY,
  };
}

export const streamsDefinition: ServiceDefinition = {
  read: method('Read', false, true),
  append: method('Append', true, false),
  batchAppend: method('BatchAppend', true, true),
  delete: method('Delete', false, false),
  tombstone: method('Tombstone', false, false),
};

export function streamsService(context: StreamsContext): UntypedServiceImplementation {
  const read: handleServerStreamingCall<Buffer, Buffer> = (call) => {
    context.onOpen(serveRead(call, context));
  };
  const append: handleClientStreamingCall<Buffer, Buffer> = (call, answer) => {
    serveAppend(call, answer, context.writer);
  };
  const batchAppend: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    context.onOpen(serveBatchAppend(call, context.writer));
  };
  return {
    read,
    append,
    batchAppend,
    delete: deletion('soft-delete', context.writer),
    tombstone: deletion('tombstone', context.writer),
  };
}

function deletion(kind: 'soft-delete' | 'tombstone', writer: Writer): handleUnaryCall<Buffer, Buffer> {
  return (call, answer) => {
    try {
      const { stream, expected } = decodeDeletion(call.request);
      writer.submit({
        kind,
        stream,
        expected,
        events: [],
        deadlineMs: deadlineOf(call),
        settle: (outcome) => {
          if (outcome.kind === 'written') answer(null, deletionSuccess(outcome));
          else answer(refusalError(stream, outcome));
        },
      });
    } catch (error) {
      answer(thrownError(error));
    }
  };
}
