import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { decodeDeletion } from '../wire/append-codec.ts';
import { deadlineOf, serveAppend, serveBatchAppend } from './append-calls.ts';
import { deletionSuccess } from '../wire/append-replies.ts';
import type { CallWriter } from '../wire/flow-control.ts';
import { type ReadContext, serveRead } from './read-calls.ts';
import { refusalError, thrownError } from '../wire/error-trailers.ts';
import type { Writer } from '../write/writer.ts';

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
