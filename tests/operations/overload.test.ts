import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError.js';
import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { overloadOf, toOverload } from '#operations/endpoint/overload.ts';
import { TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { EventStoreBusy, EventStoreSilent, ReadCutOff } from '#platform/event-store/errors.ts';
import { ServerSilent } from '#platform/postgres/connection-failure.ts';
import { ReadsBusy } from '#platform/postgres/read-database.ts';

const coded = (code: string): Error => Object.assign(new Error('fault'), { code });
const grpc = (code: status, details: string): unknown =>
  convertToCommandError(
    Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: new Metadata() }),
  );

const FAULTS: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    [
      '08006',
      '25006',
      '40001',
      '40P01',
      '53000',
      '53100',
      '53200',
      '53300',
      '53400',
      '55P03',
      '57014',
      '57P01',
      '57P02',
      '57P03',
      'ECONNREFUSED',
      'ECONNRESET',
    ].map((code) => [code, coded(code)]),
  ),
  'no connection in time': new Error('timeout exceeded when trying to connect'),
  'a silent connection': new ServerSilent(5_000),
  'busy connections for reads': new ReadsBusy(),
  'a silent event store': new EventStoreSilent(1_600),
  'a busy event store': new EventStoreBusy('it waits'),
  'a read that was cut off': new ReadCutOff(),
  'gRPC UNKNOWN': grpc(status.UNKNOWN, 'Unexpected error'),
  'gRPC INTERNAL by a reset in the middle of an answer': grpc(
    status.INTERNAL,
    'Received RST_STREAM with code 2 (Internal server error)',
  ),
  'gRPC RESOURCE_EXHAUSTED': grpc(status.RESOURCE_EXHAUSTED, 'too many calls'),
  'gRPC UNAVAILABLE': grpc(status.UNAVAILABLE, 'No connection established'),
  'gRPC CANCELLED': grpc(status.CANCELLED, 'Cancelled'),
  'gRPC DEADLINE_EXCEEDED': grpc(status.DEADLINE_EXCEEDED, 'Deadline exceeded'),
  'an object store that cannot serve': Object.assign(new Error('slow down'), { $fault: 'server' }),
  'an object store that does not answer': Object.assign(new Error('silence'), { name: 'TimeoutError' }),
};

/** A server that works, but for which too much waits. */
const BUSY: ReadonlySet<string> = new Set([
  '53300',
  '57014',
  'no connection in time',
  'busy connections for reads',
]);

describe('a fault of a server is answered with 503 and a hint', () => {
  test.each(Object.entries(FAULTS))('%s', (name, error) => {
    const refusal = overloadOf(error);
    expect(refusal?.cause, 'kept for the log').toBe(BUSY.has(name) ? undefined : error);
    expect(refusal?.retryAfterSeconds).toBeGreaterThan(0);
  });

  test('the end of the time of a request', () => {
    expect(overloadOf(new TimeUsedUp())?.retryAfterSeconds).toBeGreaterThan(0);
  });
});

describe('an error of our own stays as it is', () => {
  test.each([
    ['division by zero', coded('22012')],
    ['undefined table', coded('42P01')],
    ['unique violation', coded('23505')],
    ['no right to a table', coded('42501')],
    ['gRPC INVALID_ARGUMENT', grpc(status.INVALID_ARGUMENT, 'Invalid argument')],
    ['gRPC UNIMPLEMENTED', grpc(status.UNIMPLEMENTED, 'The server does not implement the method')],
    ['gRPC FAILED_PRECONDITION', grpc(status.FAILED_PRECONDITION, 'Not in this state')],
    ['gRPC OUT_OF_RANGE', grpc(status.OUT_OF_RANGE, 'No such position')],
    ['gRPC DATA_LOSS', grpc(status.DATA_LOSS, 'Broken record')],
    [
      'gRPC INTERNAL by a message that cannot be read',
      grpc(status.INTERNAL, 'Response message parsing error: index out of range'),
    ],
    [
      'gRPC RESOURCE_EXHAUSTED by the size of an answer',
      grpc(status.RESOURCE_EXHAUSTED, 'Received message larger than max (20000000 vs 17825792)'),
    ],
    [
      'gRPC RESOURCE_EXHAUSTED by the size of a request',
      grpc(status.RESOURCE_EXHAUSTED, 'Received message exceeds the maximum configured message size.'),
    ],
    ['gRPC PERMISSION_DENIED', grpc(status.PERMISSION_DENIED, 'Access Denied')],
    ['another refusal', new Refusal('not_found', 'Not found.')],
    ['a fault in the code', new TypeError('x is not a function')],
  ])('%s', (_, error) => {
    expect(toOverload(error)).toBe(error);
    expect(overloadOf(error)).toBeNull();
  });
});
