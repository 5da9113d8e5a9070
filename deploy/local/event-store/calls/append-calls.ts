import {
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  status,
} from '@grpc/grpc-js';
import {
  type AppendOptions,
  BadEvent,
  type BatchPart,
  decodeAppendPart,
  decodeBatchPart,
} from '../wire/append-codec.ts';
import { appendConflict, appendSuccess, batchRefusal, batchSuccess } from '../wire/append-replies.ts';
import { CallWriter } from '../wire/flow-control.ts';
import type { ProposedEvent, Refusal, WriteOutcome } from '../model.ts';
import { MalformedMessage } from '../wire/protobuf.ts';
import { callError, refusalError, thrownError, unavailable } from '../wire/error-trailers.ts';
import type { Writer } from '../write/writer.ts';

/** Default of the real server. Counts data, metadata and two bytes per character of the type. */
export const MAX_APPEND_BYTES = 1024 * 1024;
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
export function serveBatchAppend(call: ServerDuplexStream<Buffer, Buffer>, writer: Writer): CallWriter {
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
export function serveAppend(
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
export function deadlineOf(call: { getDeadline(): Date | number }): number {
  return Number(call.getDeadline());
}
