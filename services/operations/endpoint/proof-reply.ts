import { sum } from 'es-toolkit/math/sum';
import { z } from 'zod';
import { LogDigest } from '#contracts/audit/log-digest.ts';
import { PROOF_STREAMS_MAX, type ProofStatement, ruleOf } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { readAttestation } from '#application/audit/log-digest.ts';
import type { StreamBasis } from '#application/as-of/past-reads.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { BASE_URL } from './examples.ts';

/** Fields that each proof has besides its statement. */
export const proofShape = {
  rule: z.string().meta({ description: 'Rule of the statement, in a sentence.' }),
  events_counted: Count.meta({ description: 'Events recorded by the moment, on which the statement rests.' }),
  events_left_out: Count.meta({
    description:
      'Events of the same streams about what was observed by the moment, recorded only afterwards.',
  }),
  digest: LogDigest.nullable().meta({
    description:
      'The newest digest of the log; null: none is signed yet, and nothing attests the events of the bundle.',
  }),
  events_not_attested: Count.meta({
    description: 'Events of the streams that were recorded after this digest.',
  }),
  bundle_url: z.url().meta({
    description:
      'Signed link to the bundle, NDJSON with every event of the streams. It needs no key. `npm run ops -- proof verify FILE` checks a bundle without this service.',
  }),
  expires_at: Timestamp.meta({ description: 'When the link expires.' }),
} as const;

export const proofExample = {
  events_counted: 817,
  events_left_out: 0,
  digest: null,
  events_not_attested: 817,
  bundle_url: `${BASE_URL}/v1/proofs?statement=eyJzdGF0ZW1lbnQiOnt9fQ&signature=c2lnbmF0dXJl`,
  expires_at: '2026-11-20T07:00:00.000Z',
} as const;

/** A page in place of a bundle. */
const { bundle_url: _url, ...sharedShape } = proofShape;
export const pageShape = {
  ...sharedShape,
  page_url: z.url().meta({
    description:
      'Signed link to the page, one HTML file that checks itself in a browser without a network. It needs no key. `npm run ops -- proof verify FILE` checks it by code that is not in it.',
  }),
} as const;

export const PROOF_DIGESTS =
  'Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.';

type Streams = ReadonlyMap<string, StreamBasis>;

const tooManyStreams = (): Refusal => {
  const message = `the statement rests on more than ${PROOF_STREAMS_MAX} streams`;
  return new Refusal('invalid_input', `No proof: ${message}.`, [{ path: '', message, code: 'too_big' }]);
};

/** Names of categories are read with brands, and no statement rests on them. */
const isProven = ([stream]: readonly [string, StreamBasis]): boolean => !stream.startsWith('category-');

/** By name. Throws `Refusal` for too many. */
const provenStreams = (streams: Streams): readonly (readonly [string, StreamBasis])[] => {
  const found = [...streams].filter(isProven);
  if (found.length > PROOF_STREAMS_MAX) throw tooManyStreams();
  return found.toSorted(([one], [other]) => (one < other ? -1 : 1));
};

/** Adds to a statement its streams, and returns the proof of it. */
export const replyWithProof = async <S extends ProofStatement>(
  about: Omit<S, 'streams'>,
  streams: Streams,
  { pool, proofLinks, clock }: OperationDependencies,
) => {
  const read = provenStreams(streams);
  const named = read.map(([stream, { revision }]) => ({ stream, revision: String(revision) }));
  const statement = { ...about, streams: named } as unknown as S;
  const attestation = await readAttestation(
    pool,
    read.map(([stream]) => stream),
  );
  const notAttested = read.map(
    ([stream, { revision }]) => Number(revision) - Number(attestation?.heads.get(stream)?.revision ?? -1),
  );
  const link = proofLinks.sign(statement, clock.now());
  return {
    statement,
    rule: ruleOf(statement),
    events_counted: sum(read.map(([, { events }]) => events)),
    events_left_out: sum(read.map(([, { late }]) => late)),
    digest: attestation?.digest ?? null,
    events_not_attested: sum(notAttested.map((events) => Math.max(0, events))),
    bundle_url: link.url,
    expires_at: link.expiresAt,
  };
};
