import { sum } from 'es-toolkit/math/sum';
import { z } from 'zod';
import { PROOF_STREAMS_MAX, ProofStatement } from '#contracts/audit/proof.ts';
import { LogDigest } from '#contracts/audit/log-digest.ts';
import { Refusal } from '#contracts/errors.ts';
import { FIGURES } from '#contracts/values/figures.ts';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { readAttestation } from '#application/audit/log-digest.ts';
import { type PastBasis, type StreamBasis, streamsOfBrand } from '#application/as-of/past-reads.ts';
import { READ_MODELS_OF_FIGURES, readFigure } from '#projections/queries/figures.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { BASE_URL, BRAND_ID } from '../endpoint/examples.ts';
import { brandParams, pastQuery } from '../endpoint/parameters.ts';
import { notRecorded, requirePast } from '../endpoint/read-past.ts';
import { checkWindow, figureParameters, requireFigure } from './bounds.ts';
import { requireBrand } from './find-brand.ts';

const Proof = z
  .strictObject({
    statement: ProofStatement,
    rule: z.string().meta({ description: 'Rule of the figure, in a sentence.' }),
    events_counted: Count.meta({ description: 'Events recorded by the moment, on which the figure rests.' }),
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
  })
  .meta({ id: 'Proof', description: 'A figure with all that it takes to check it.' });

const tooManyStreams = (): Refusal => {
  const message = `the figure rests on more than ${PROOF_STREAMS_MAX} streams, because ads moved between many brands`;
  return new Refusal('invalid_input', `No proof: ${message}.`, [
    { path: 'figure', message, code: 'too_big' },
  ]);
};

/** Names of categories are read with brands, and no figure rests on them. */
const isFigureStream = (stream: string): boolean => !stream.startsWith('category-');

/** Streams of the figure, by name. Throws `Refusal` for too many. */
const streamsOfFigure = ({ streams }: PastBasis): readonly (readonly [string, StreamBasis])[] => {
  const found = [...streams].filter(([stream]) => isFigureStream(stream));
  if (found.length > PROOF_STREAMS_MAX) throw tooManyStreams();
  return found.toSorted(([one], [other]) => (one < other ? -1 : 1));
};

const example: z.infer<typeof Proof> = {
  statement: {
    brand_id: BRAND_ID,
    figure: 'active_ads',
    from: null,
    to: null,
    as_of: '2026-11-20T06:00:00.000Z',
    value: 126,
    streams: [
      { stream: `brand-${BRAND_ID}`, revision: '3' },
      { stream: `adLibrary-${BRAND_ID}`, revision: '812' },
    ],
  },
  rule: FIGURES.active_ads.rule,
  events_counted: 817,
  events_left_out: 0,
  digest: null,
  events_not_attested: 817,
  bundle_url: `${BASE_URL}/v1/proofs?statement=eyJzdGF0ZW1lbnQiOnt9fQ&signature=c2lnbmF0dXJl`,
  expires_at: '2026-11-20T07:00:00.000Z',
};

export const getBrandProof = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/proof',
  operationId: 'getBrandProof',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the proof of a figure',
  description:
    'A figure as known at a moment, its rule, and a link to a bundle of every event that it rests on. Digests of the log, signed each night and published at `/.well-known/log-digests`, prove that the bundle leaves out no event of its streams. Events recorded after the newest digest are not attested yet.',
  params: brandParams,
  query: z
    .strictObject({
      ...figureParameters,
      as_of: pastQuery.as_of.unwrap().optional().meta({
        description: 'The moment: events recorded by then count. Now when absent.',
      }),
    })
    .superRefine(checkWindow),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: Proof, example },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: READ_MODELS_OF_FIGURES,
  beyondContract: true,
  handler: async ({ params, query, caller }, { db, pool, pastReads, pastPlaces, proofLinks, clock }) => {
    const now = clock.now();
    const figure = requireFigure(query, now);
    const { brand_id } = await requireBrand(db, params.brandId);
    const moment = query.as_of === undefined ? now : requirePast('as_of', query.as_of, now);
    const past = {
      streams: streamsOfBrand(brand_id),
      ofTracked: null,
      readModels: READ_MODELS_OF_FIGURES,
      until: { recordedUntil: moment },
    };
    const { result: value, basis } = await pastPlaces(caller.workspaceId, () =>
      pastReads.read(past, (of) => readFigure(of, brand_id, figure)),
    );
    if (value === null) throw notRecorded({ now: moment }, basis, now);
    const { name, from, to } = figure;
    const as_of = moment.toISOString();
    const read = streamsOfFigure(basis);
    const streams = read.map(([stream, { revision }]) => ({ stream, revision: String(revision) }));
    const statement: ProofStatement = { brand_id, figure: name, from, to, as_of, value, streams };
    const attestation = await readAttestation(
      pool,
      read.map(([stream]) => stream),
    );
    const notAttested = read.map(
      ([stream, { revision }]) => Number(revision) - Number(attestation?.heads.get(stream)?.revision ?? -1),
    );
    const link = proofLinks.sign(statement, now);
    const proof: z.infer<typeof Proof> = {
      statement,
      rule: FIGURES[name].rule,
      events_counted: sum(read.map(([, { events }]) => events)),
      events_left_out: sum(read.map(([, { late }]) => late)),
      digest: attestation?.digest ?? null,
      events_not_attested: sum(notAttested.map((events) => Math.max(0, events))),
      bundle_url: link.url,
      expires_at: link.expiresAt,
    };
    return { data: JSON.stringify(proof), asOf: query.as_of ?? null };
  },
});
