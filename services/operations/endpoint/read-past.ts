import { Refusal } from '#contracts/errors.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import type { Cut, PastBasis, PastRead } from '#application/as-of/past-reads.ts';
import type { Clock } from '#platform/clock.ts';
import { readBrandOfAd } from '#projections/ads/read.ts';
import { readBrandsOfItems } from '#projections/queries/tracked.ts';
import { readFilesOfAd } from '#projections/creatives/read.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { requireBrand } from '../brands/find-brand.ts';
import type { Endpoint } from './define-endpoint.ts';
import type { Reply } from './reply.ts';
import type { HandlerCall } from './run-handler.ts';

/** Throws `Refusal` for a moment to come. */
export const requirePast = (path: string, time: string, now: Date): Date => {
  const moment = new Date(time);
  if (moment <= now) return moment;
  const message = `\`${path}\` must not be later than now, ${now.toISOString()}`;
  throw new Refusal('invalid_input', message, [{ path, message, code: 'moment_in_future' }]);
};

/** Parameters that make a read one of the past. */
const MOMENTS = ['as_of', 'observed_as_of'] as const;

export const isPast = ({ past }: Endpoint, query: HandlerCall['query']): boolean =>
  past !== undefined && MOMENTS.some((name) => query[name] !== undefined);

/** `now`: the earlier of the moments, from which the answer counts ages and windows. */
export type Moment = Pick<Cut, 'recordedUntil' | 'observedUntil'> & { readonly now: Date };

/** `null` for a read of the present. */
export const momentOf = (endpoint: Endpoint, query: HandlerCall['query'], clock: Clock): Moment | null => {
  if (!isPast(endpoint, query)) return null;
  const [recordedUntil, observedUntil] = MOMENTS.map((name) => {
    const time = query[name];
    return typeof time === 'string' ? requirePast(name, time, clock.now()) : undefined;
  });
  const given = [recordedUntil, observedUntil].filter((one) => one !== undefined);
  return { recordedUntil, observedUntil, now: given.reduce((one, other) => (one < other ? one : other)) };
};

type Scope = Pick<PastRead, 'streams' | 'ofTracked'>;

/** Without a row of the present there was none before: nothing is ever removed from the corpus. */
const NOTHING: Scope = { streams: [], ofTracked: null };

/** Streams of the brand, ad or workspace that the read is about. */
const SCOPES: Readonly<
  Record<
    NonNullable<Endpoint['past']>,
    (call: HandlerCall, dependencies: OperationDependencies) => Promise<Scope>
  >
> = {
  brand: async ({ params, caller }, { db }) => {
    const { brand_id: brandId } = await requireBrand(db, String(params['brandId']));
    return { streams: [...streamsOfBrand(brandId), trackingStream(caller.workspaceId)], ofTracked: null };
  },
  ad: async ({ params }, { db }) => {
    const adId = String(params['adId']);
    const [brandId, files] = await Promise.all([readBrandOfAd(db, adId), readFilesOfAd(db, adId)]);
    if (brandId === null) return NOTHING;
    return { streams: [...streamsOfBrand(brandId), ...files.map(creativeStream)], ofTracked: null };
  },
  workspace: async ({ params, query }, { db }) => {
    const streamsOf = async (brandId: string): Promise<readonly string[]> =>
      [brandId, ...(await readBrandsOfItems(db, brandId))].flatMap(streamsOfBrand);
    const tracking = trackingStream(String(params['ws']));
    const { brand_id: brandId } = query;
    return typeof brandId === 'string'
      ? { streams: [tracking, ...(await streamsOf(brandId.toLowerCase()))], ofTracked: null }
      : { streams: [tracking], ofTracked: streamsOf };
  },
};

const NOT_RECORDED = new Refusal('not_found', 'Nothing about it was known at this moment.');

/** 400 with the range. `done`: what the first event was at `earliest`. */
export const beforeFirstEvent = (
  path: string,
  done: 'recorded' | 'observed',
  earliest: Date,
  end: Date,
): Refusal => {
  const message = `nothing about it was ${done} before ${earliest.toISOString()}; send a moment from then until ${end.toISOString()}`;
  return new Refusal('invalid_input', `No answer for \`${path}\`: ${message}.`, [
    { path, message, code: 'before_first_event' },
  ]);
};

/** 400 with the range of moments before the first event, 404 for a subject that came later. */
export const notRecorded = (
  { recordedUntil, observedUntil, now }: Moment,
  { recorded, observed = null }: Partial<PastBasis['earliest']>,
  end: Date,
): Refusal => {
  const asOf = observedUntil === undefined ? (recordedUntil ?? now) : recordedUntil;
  const refused = [
    ['as_of', 'recorded', asOf, recorded],
    ['observed_as_of', 'observed', observedUntil, observed],
  ] as const;
  for (const [path, done, moment, earliest] of refused) {
    if (moment && earliest && moment < earliest) return beforeFirstEvent(path, done, earliest, end);
  }
  return NOT_RECORDED;
};

const isNotFound = (error: unknown): boolean => error instanceof Refusal && error.code === 'not_found';

/** Calls the handler of a read with the read models as they were at the moment. One at a time in a process. */
export const readPast = async (
  endpoint: Endpoint,
  call: HandlerCall,
  moment: Moment,
  dependencies: OperationDependencies,
  handle: (dependencies: OperationDependencies) => Promise<Reply>,
): Promise<Reply> => {
  const { pastReads, pastPlaces } = dependencies;
  const scope = await SCOPES[endpoint.past ?? 'brand'](call, dependencies);
  const past = { ...scope, readModels: endpoint.reads, until: moment };
  const { result, basis } = await pastPlaces(call.caller.workspaceId, () =>
    pastReads.read(past, (db, found) =>
      handle({ ...dependencies, db, clock: { now: () => moment.now } }).catch((error: unknown) => {
        if (!isNotFound(error) || scope.streams.length === 0) throw error;
        throw notRecorded(moment, found.earliest, dependencies.clock.now());
      }),
    ),
  );
  const asOf = result.asOf ?? moment.now.toISOString();
  return { ...result, asOf, position: basis.position, past: basis };
};
