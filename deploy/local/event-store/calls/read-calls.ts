import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { CallWriter } from '../wire/flow-control.ts';
import { type CallError, callError, refusalError, thrownError } from '../wire/error-trailers.ts';
import { decodeRead, encodeEvent, type ReadOptions, streamNotFound } from '../wire/read-codec.ts';
import { StreamDeleted, StreamNotFound } from '../read/reader.ts';
import { type SubscriptionSources, subscribeToAll, subscribeToStream } from '../read/subscriptions.ts';

export interface ReadContext extends SubscriptionSources {
  /** False while the store cannot reach its database. */
  isAvailable(): boolean;
}

export function serveRead(call: ServerWritableStream<Buffer, Buffer>, context: ReadContext): CallWriter {
  const out = new CallWriter(call);
  answer(call.request, context, out).catch((error: unknown) => out.fail(thrownError(error)));
  return out;
}

async function answer(request: Buffer, context: ReadContext, out: CallWriter): Promise<void> {
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
