import { z } from 'zod';
import { FigureStatement } from '#contracts/audit/proof.ts';
import { FIGURES } from '#contracts/values/figures.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import { READ_MODELS_OF_FIGURES, readFigure } from '#projections/queries/figures.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { BRAND_ID } from '../endpoint/examples.ts';
import { brandParams, pastQuery } from '../endpoint/parameters.ts';
import { PROOF_DIGESTS, proofExample, proofShape, replyWithProof } from '../endpoint/proof-reply.ts';
import { notRecorded, requirePast } from '../endpoint/read-past.ts';
import { checkWindow, figureParameters, requireFigure } from './bounds.ts';
import { requireBrand } from './find-brand.ts';

const Proof = z
  .strictObject({ statement: FigureStatement, ...proofShape })
  .meta({ id: 'Proof', description: 'A figure with all that it takes to check it.' });

const example: z.infer<typeof Proof> = {
  statement: {
    about: 'figure',
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
  ...proofExample,
};

export const getBrandProof = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/proof',
  operationId: 'getBrandProof',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the proof of a figure',
  description: `A figure as known at a moment, its rule, and a link to a bundle of every event that it rests on. ${PROOF_DIGESTS}`,
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
  handler: async ({ params, query, caller }, dependencies) => {
    const { db, pastReads, pastPlaces, clock } = dependencies;
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
    if (value === null) throw notRecorded({ now: moment }, basis.earliest, now);
    const { name, from, to } = figure;
    const proof = await replyWithProof<FigureStatement>(
      { about: 'figure', brand_id, figure: name, from, to, as_of: moment.toISOString(), value },
      basis.streams,
      dependencies,
    );
    return { data: JSON.stringify(proof), asOf: query.as_of ?? null };
  },
});
