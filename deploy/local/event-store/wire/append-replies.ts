import type { Expected, Refusal, Written } from '../model.ts';
import { bytesField, numberField, writeVarint } from './protobuf.ts';

/** Codes of google.rpc.Code, which BatchAppend returns in the message instead of ending the call. */
const CODE_INVALID_ARGUMENT = 3;
const CODE_DEADLINE_EXCEEDED = 4;
const CODE_NOT_FOUND = 5;
const CODE_ALREADY_EXISTS = 6;
const TYPE_URL = 'type.googleapis.com/event_store.client.';
const EMPTY = Buffer.alloc(0);
/** Two tags, two lengths and three numbers of at most ten bytes. */
const SUCCESS_OVERHEAD_BYTES = 64;

/** BatchAppendResp { correlation_id = 1, success = 3 { revision = 1, position = 3 }, stream_identifier = 4 }. */
export function batchSuccess(correlation: Buffer, identifier: Buffer, written: Written): Buffer {
  const reply = Buffer.allocUnsafe(SUCCESS_OVERHEAD_BYTES + correlation.length + identifier.length);
  reply[0] = 0x0a;
  let at = writeVarint(reply, 1, correlation.length);
  at += correlation.copy(reply, at);
  reply[at] = 0x1a;
  // Both nested messages are shorter than 128 bytes, so that one byte of length is enough.
  const successStart = at + 2;
  at = writeSuccess(reply, successStart, written);
  reply[successStart - 1] = at - successStart;
  reply[at] = 0x22;
  at = writeVarint(reply, at + 1, identifier.length);
  at += identifier.copy(reply, at);
  return reply.subarray(0, at);
}

function writeSuccess(reply: Buffer, offset: number, written: Written): number {
  let at = offset;
  if (written.revision < 0) at = writeEmpty(reply, at, 0x12);
  else {
    reply[at] = 0x08;
    at = writeVarint(reply, at + 1, written.revision);
  }
  if (written.position === null) return writeEmpty(reply, at, 0x22);
  reply[at] = 0x1a;
  const start = at + 2;
  reply[start] = 0x08;
  at = writeVarint(reply, start + 1, written.position);
  reply[at] = 0x10;
  at = writeVarint(reply, at + 1, written.position);
  reply[start - 1] = at - start;
  return at;
}

function writeEmpty(reply: Buffer, offset: number, tag: number): number {
  reply[offset] = tag;
  reply[offset + 1] = 0;
  return offset + 2;
}

/** BatchAppendResp { correlation_id = 1, error = 2 google.rpc.Status, stream_identifier = 4 }. */
export function batchRefusal(correlation: Buffer, identifier: Buffer, refusal: Refusal): Buffer {
  return Buffer.concat([
    bytesField(1, correlation),
    bytesField(2, refusalStatus(identifier, refusal)),
    bytesField(4, identifier),
  ]);
}

/** google.rpc.Status { code = 1, message = 2, details = 3 Any { type_url = 1, value = 2 } }. */
function refusalStatus(identifier: Buffer, refusal: Refusal): Buffer {
  switch (refusal.kind) {
    case 'wrong-expected-version':
      return status(CODE_ALREADY_EXISTS, 'WrongExpectedVersion', wrongExpectedVersion(refusal));
    case 'stream-deleted':
      return status(CODE_NOT_FOUND, 'StreamDeleted', bytesField(1, identifier));
    case 'timeout':
      return status(CODE_DEADLINE_EXCEEDED, 'Timeout', EMPTY);
    case 'maximum-append-size-exceeded':
      return status(CODE_INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', numberField(1, refusal.limitBytes));
    case 'bad-request':
      return status(CODE_INVALID_ARGUMENT, 'BadRequest', bytesField(1, refusal.message), refusal.message);
    case 'unavailable':
      throw new Error('An unavailable store ends the call; it is not answered per append.');
  }
}

function status(code: number, type: string, value: Buffer, message = type): Buffer {
  const details = Buffer.concat([bytesField(1, TYPE_URL + type), bytesField(2, value)]);
  return Buffer.concat([numberField(1, code), bytesField(2, message), bytesField(3, details)]);
}

function wrongExpectedVersion(refusal: { expected: Expected; actual: number }): Buffer {
  const current = refusal.actual < 0 ? bytesField(2, EMPTY) : numberField(1, refusal.actual);
  return Buffer.concat([current, expectedField(refusal.expected, 3, 4, 5, 6)]);
}

function expectedField(
  expected: Expected,
  revision: number,
  any: number,
  exists: number,
  none: number,
): Buffer {
  if (expected === 'any') return bytesField(any, EMPTY);
  if (expected === 'stream_exists') return bytesField(exists, EMPTY);
  if (expected === 'no_stream') return bytesField(none, EMPTY);
  return numberField(revision, expected);
}

/** AppendResp { success = 1 { current_revision = 1 | no_stream = 2, position = 3 | no_position = 4 } }. */
export function appendSuccess(written: Written): Buffer {
  const success = Buffer.alloc(SUCCESS_OVERHEAD_BYTES);
  return bytesField(1, success.subarray(0, writeSuccess(success, 0, written)));
}

/** AppendResp { wrong_expected_version = 2 }: this call reports a conflict in its reply, not as an error. */
export function appendConflict(refusal: { expected: Expected; actual: number }): Buffer {
  const current = refusal.actual < 0 ? bytesField(7, EMPTY) : numberField(6, refusal.actual);
  return bytesField(2, Buffer.concat([current, expectedField(refusal.expected, 8, 9, 10, 11)]));
}

/** DeleteResp and TombstoneResp { position = 1 { commit = 1, prepare = 2 } | no_position = 2 }. */
export function deletionSuccess(written: Written): Buffer {
  if (written.position === null) return bytesField(2, EMPTY);
  return bytesField(1, Buffer.concat([numberField(1, written.position), numberField(2, written.position)]));
}
