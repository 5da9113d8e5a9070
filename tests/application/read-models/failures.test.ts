import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import { ServerSilent } from '#platform/postgres/connection-failure.ts';
import {
  encoding,
  endsSession,
  isCausedByEvent,
  mayPass,
  UnwritableChanges,
} from '#application/read-models/failures.ts';

/** Some errors park an event, some concern one projection alone, and some end the session. */

const ofServer = (code: string): Error => Object.assign(new DatabaseError(code, 0, 'error'), { code });
const ofSocket = (code: string): Error => Object.assign(new Error(code), { code });
const unwritable = (): unknown => {
  try {
    return encoding(() => JSON.parse('{'));
  } catch (error) {
    return error;
  }
};

type Judged = { readonly parks: boolean; readonly ends: boolean; readonly passes: boolean };
const judged = (error: unknown): Judged => ({
  parks: isCausedByEvent(error),
  ends: endsSession(error),
  passes: mayPass(error),
});

describe('an event is parked for', () => {
  test.for(['21000', '22001', '23505', '44000', '54000', 'P0001'])('SQL state %s', (code) => {
    expect(judged(ofServer(code))).toEqual({ parks: true, ends: false, passes: false });
  });
  test('changes that cannot be encoded', () => {
    const error = unwritable();
    expect(error).toBeInstanceOf(UnwritableChanges);
    expect(judged(error)).toEqual({ parks: true, ends: false, passes: false });
  });
});

describe('one projection tries again alone after', () => {
  test.for([
    'timeout exceeded when trying to connect',
    'Received unexpected commandComplete message from backend.',
    'an error that is not known',
  ])('the error "%s" of the client or the pool', (message) => {
    expect(judged(new Error(message))).toEqual({ parks: false, ends: false, passes: true });
  });
  test.for(['40001', '53100', '53300', '55P03', '57014', 'XX000'])('SQL state %s', (code) => {
    expect(judged(ofServer(code))).toEqual({ parks: false, ends: false, passes: true });
  });
  test.for(['42P01', '42703'])('SQL state %s, and a rebuild fails', (code) => {
    expect(judged(ofServer(code))).toEqual({ parks: false, ends: false, passes: false });
  });
});

describe('the session ends after', () => {
  test.for(['08006', '57P01', '57P03'])('SQL state %s', (code) => {
    expect(judged(ofServer(code))).toEqual({ parks: false, ends: true, passes: true });
  });
  test.for(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'])('code %s', (code) => {
    expect(judged(ofSocket(code))).toEqual({ parks: false, ends: true, passes: true });
  });
  test.for([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'timeout expired',
  ])('the error "%s"', (message) => {
    expect(judged(new Error(message))).toEqual({ parks: false, ends: true, passes: true });
  });
  test('a silent server, or a lost lease', () => {
    for (const error of [new ServerSilent(1), new LeaseLost({ kind: 'projections', part: 'all' })])
      expect(judged(error)).toEqual({ parks: false, ends: true, passes: true });
  });
});
