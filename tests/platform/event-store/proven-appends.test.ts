import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { expect, test } from 'vitest';
import type { Event } from '#contracts/events/event.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { acknowledge, type AppendCall, refuse, startStubServer } from './stub-server.ts';

const SLICE = 1_000;
const METADATA = {
  $correlationId: 'c',
  $causationId: 'c',
  request_id: 'c',
  actor: { kind: 'service', id: 'tests' },
} as const;
const EVENT = { type: 'BrandRegistered', data: {} } as unknown as Event;

/** Appends with a proof that fails the second time. Returns the received appends. */
const appendedWith = async (
  events: number,
  answer: (call: AppendCall, request: streams.BatchAppendReq) => void,
): Promise<number> => {
  let received = 0;
  await using server = await startStubServer({
    onAppend: (call, request) => {
      received += 1;
      answer(call, request);
    },
  });
  let proofs = 0;
  await using store = openEventStore(server.url, {
    proveAppend: async () => {
      proofs += 1;
      if (proofs > 1) throw new Error('taken over');
    },
  });
  const appending = store.append(
    'brand-1',
    -1n,
    Array.from({ length: events }, () => EVENT),
    METADATA,
    'id',
  );
  await expect(appending).rejects.toThrow('taken over');
  return received;
};

test('an append is not sent again by a process that has lost its work meanwhile', async () => {
  expect(await appendedWith(1, refuse)).toBe(1);
});

test('an append of several slices is not continued by a process that has lost its work meanwhile', async () => {
  const acknowledgeSlice = (call: AppendCall, request: streams.BatchAppendReq): void =>
    acknowledge(call, request, request.getProposedMessagesList().length - 1);
  expect(await appendedWith(SLICE + 1, acknowledgeSlice)).toBe(1);
});
