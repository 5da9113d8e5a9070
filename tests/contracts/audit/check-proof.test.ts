import { expect, test } from 'vitest';
import { checkProof } from '#application/audit/verify-proof.ts';
import { CHAIN_START, chainHash, eventHash } from '#contracts/audit/chain.ts';
import { PROOF_VERSION, type ProofEvent } from '#contracts/audit/proof.ts';

const RECORDED_AT = '2026-11-20T06:00:00.000Z';

/** Events of a stream at the given positions of the log. */
const chained = (stream: string, ...positions: readonly number[]): readonly ProofEvent[] => {
  let head = CHAIN_START;
  return positions.map((position, revision) => {
    const event = {
      stream,
      revision: String(revision),
      id: `event-${position}`,
      type: 'AdsSeen',
      position: String(position),
      recorded_at: RECORDED_AT,
      data: '{}',
      schema_version: null,
      metadata_sha256: CHAIN_START,
    };
    head = chainHash(head, eventHash(event));
    return { kind: 'event', ...event, head };
  });
};

test('altered events are named in the order of the log, and not of the streams', async () => {
  const events = [...chained('adLibrary-a', 3, 4, 9), ...chained('adLibrary-b', 1, 5)];
  const statement = {
    about: 'ad',
    ad_id: '1203847561029384',
    picture_sha256: null,
    as_of: RECORDED_AT,
    streams: [
      { stream: 'adLibrary-a', revision: '2' },
      { stream: 'adLibrary-b', revision: '1' },
    ],
  };
  const header = {
    kind: 'proof',
    proof_version: PROOF_VERSION,
    statement,
    rule: '',
    digest: null,
    heads: [],
  };
  const altered = events.map((event) => ({ ...event, data: '{"ad_ids":[]}' }));
  const lines = [header, ...altered, { kind: 'end', events: 4 }].map((line) => JSON.stringify(line));
  expect((await checkProof(lines)).faults).toEqual([
    'adLibrary-b, revision 0: the event was altered.',
    'adLibrary-a, revision 0: the event was altered.',
    'adLibrary-a, revision 1: the event was altered.',
    'adLibrary-b, revision 1: the event was altered.',
    'adLibrary-a, revision 2: the event was altered.',
    'The proof has 5 events and states 4.',
  ]);
});
