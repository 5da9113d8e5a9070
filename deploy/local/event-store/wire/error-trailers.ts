import { Metadata, status } from '@grpc/grpc-js';
import type { Expected, Refusal } from '../model.ts';
import { MalformedMessage } from './protobuf.ts';

/** A gRPC code, and the trailer `exception` that tells the client which error it is. */
export interface CallError {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

export function callError(
  code: status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): CallError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, headerSafe(value));
  return { code, details, metadata };
}

/** Header values are limited to visible ASCII; a stream name may use any script. */
function headerSafe(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?');
}

export function unavailable(details: string): CallError {
  return callError(status.UNAVAILABLE, details);
}

export function refusalError(stream: string, refusal: Refusal, missing: string | null = null): CallError {
  switch (refusal.kind) {
    case 'wrong-expected-version':
      return callError(status.FAILED_PRECONDITION, 'The stream is not at the expected revision.', {
        exception: 'wrong-expected-version',
        'stream-name': stream,
        'expected-version': expectedNumber(refusal.expected),
        'actual-version': String(refusal.actual),
      });
    case 'stream-deleted':
      return callError(status.FAILED_PRECONDITION, `The stream "${stream}" is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': stream,
      });
    case 'timeout':
      return callError(status.ABORTED, 'The append was not carried out within its time.');
    case 'maximum-append-size-exceeded':
      return callError(status.INVALID_ARGUMENT, `An append may hold at most ${refusal.limitBytes} bytes.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(refusal.limitBytes),
      });
    case 'bad-request':
      if (missing === null) return callError(status.INVALID_ARGUMENT, refusal.message);
      return callError(status.INVALID_ARGUMENT, refusal.message, {
        exception: 'missing-required-metadata-property',
        'required-metadata-properties': 'type,content-type',
      });
    case 'unavailable':
      return unavailable(refusal.message);
  }
}

/** Numbers by which the protocol names conditions that are not a revision. */
function expectedNumber(expected: Expected): string {
  if (expected === 'any') return '-2';
  if (expected === 'no_stream') return '-1';
  if (expected === 'stream_exists') return '-4';
  return String(expected);
}

/** Maps an error thrown while a call was served to the error for the caller. */
export function thrownError(error: unknown): CallError {
  if (error instanceof MalformedMessage) return callError(status.INVALID_ARGUMENT, error.message);
  return unavailable('The event store cannot reach its database.');
}
