import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import parseRange from 'range-parser';
import type { ProofStatement } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { writeAdPage } from '#application/audit/ad-page.ts';
import { proofLines } from '#application/audit/write-proof.ts';
import { DOWNLOAD_PATH, PROOF_PATH } from '#operations/dependencies/links.ts';
import { untilTimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { requestIdOf } from '#platform/http/request-headers.ts';
import { HEAD_BYTES, mediaTypeOf } from '#application/media/media-type.ts';
import { MEDIA_PATH, keyOfMediaName } from '#contracts/values/media/stored-media.ts';
import type { ByteRange, ObjectStore, OpenObject } from '#platform/object-store/object-store.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { sendError } from './send-error.ts';

/** Downloads have no limit by API key. Equals the sockets of the object store's client (`s3-object-store.ts`). */
export const FILES_IN_FLIGHT_MAX = 256;
const RETRY_AFTER_SECONDS = 1;

/** Counts a file until its reply is closed. Throws `Refusal` when too many files are sent. */
export type LimitFiles = (reply: FastifyReply) => void;

export const createFileLimit = (max = FILES_IN_FLIGHT_MAX): LimitFiles => {
  let inFlight = 0;
  return (reply) => {
    if (inFlight >= max)
      throw new Refusal(
        'overloaded',
        `Too many files are being sent. Try again in ${RETRY_AFTER_SECONDS} s.`,
        [],
        RETRY_AFTER_SECONDS,
      );
    // The client may have left already.
    if (reply.raw.closed) return;
    inFlight += 1;
    reply.raw.once('close', () => {
      inFlight -= 1;
    });
  };
};

/** A `HEAD` request opens no file. Without a stream the framework would send a length of 0. */
const contentFor = (request: FastifyRequest, read: () => Readable): Readable =>
  request.method === 'HEAD' ? Readable.from([]) : read();

/** A test world signs its links by a secret of its own, and serves their files. */
const refuseFile = async (
  request: FastifyRequest,
  reply: FastifyReply,
  requestId: string,
  error: unknown,
  { testWorld, log }: ApiDependencies,
): Promise<FastifyReply> => {
  try {
    if (testWorld === null || !(error instanceof Refusal) || error.code !== 'link_invalid') throw error;
    await testWorld.forward(request, reply, requestId);
  } catch (refused) {
    sendError(reply, requestId, refused, log);
  }
  return reply;
};

/** Serves reports by signed URL, outside the pipeline: browsers and spreadsheets send no API key. */
export const registerDownloads = (app: FastifyInstance, dependencies: ApiDependencies): void => {
  const { objectStore, limitFiles } = dependencies;
  app.get<{ Params: { fileName: string }; Querystring: Record<string, unknown> }>(
    `${DOWNLOAD_PATH}/:fileName`,
    { exposeHeadRoute: true },
    async (request, reply) => {
      const requestId = requestIdOf(request.headers['x-request-id']);
      try {
        const { fileName } = request.params;
        const { objectKey } = dependencies.downloadLinks.open(
          fileName,
          request.query,
          dependencies.clock.now(),
        );
        limitFiles(reply);
        // The stream of the file has limits of its own.
        const object = await withTimeBudget(waitsOf(dependencies.requestBudgetMs), () =>
          untilTimeUsedUp(objectStore.open(objectKey)),
        );
        if (!object) throw new Refusal('not_found', 'The file no longer exists. Request the report again.');
        dependencies.log.info({ request_id: requestId, object_key: objectKey }, 'download');
        return await reply
          .header('x-request-id', requestId)
          .header('content-disposition', `attachment; filename="${fileName}"`)
          .header('content-length', object.bytes)
          .header('cache-control', 'private, no-store')
          .header('x-content-type-options', 'nosniff')
          .type('text/csv; charset=utf-8')
          .send(contentFor(request, () => object.read()));
      } catch (error) {
        return refuseFile(request, reply, requestId, error, dependencies);
      }
    },
  );
};

const NOT_STORED = new Refusal('not_found', 'The file is not stored here. Read the creative again.');

/** Recognises the type by the first bytes. A file of another type is not served. */
const contentTypeOf = async (object: OpenObject): Promise<string> => {
  const end = Math.min(object.bytes, HEAD_BYTES) - 1;
  const head = end < 0 ? Buffer.alloc(0) : await buffer(object.read({ start: 0, end }));
  const type = mediaTypeOf(head);
  if (type === null) throw NOT_STORED;
  return type.contentType;
};

const openMedia = async (
  objectStore: ObjectStore,
  key: string,
): Promise<{ readonly object: OpenObject; readonly contentType: string }> => {
  const object = await objectStore.open(key);
  if (!object) throw NOT_STORED;
  return { object, contentType: await contentTypeOf(object) };
};

/** `null` for the whole file, also with several or invalid ranges (RFC 9110, section 14.2). */
const requestedRange = (header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null => {
  if (header === undefined || !/^bytes=/i.test(header)) return null;
  const ranges = parseRange(bytes, header);
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.length !== 1) return null;
  return ranges[0] as ByteRange;
};

/** Serves media by signed URL without an API key. A file is named by its hash, so its content never changes. */
export const registerMedia = (app: FastifyInstance, dependencies: ApiDependencies): void => {
  const { mediaLinks, objectStore, limitFiles, clock, requestBudgetMs } = dependencies;
  const meter = requestMeter('getMedia');
  app.get<{ Params: { name: string }; Querystring: Record<string, unknown> }>(
    `${MEDIA_PATH}/:name`,
    { exposeHeadRoute: true },
    async (request, reply) => {
      const since = performance.now();
      const requestId = requestIdOf(request.headers['x-request-id']);
      reply.raw.once('close', () => meter(reply.raw.statusCode, (performance.now() - since) / 1_000));
      try {
        const { name } = request.params;
        const validMs = mediaLinks.open(name, request.query, clock.now());
        const etag = `"${name}"`;
        reply.headers({
          'x-request-id': requestId,
          etag,
          'accept-ranges': 'bytes',
          'cache-control': `private, max-age=${Math.floor(validMs / 1_000)}, immutable`,
          // The file came from outside. A browser shows it and never runs it, in any page.
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'cross-origin',
          'x-content-type-options': 'nosniff',
        });
        const known = request.headers['if-none-match'];
        if (known?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)) {
          return await reply.code(304).send();
        }
        limitFiles(reply);
        // The stream of the file has limits of its own.
        const { object, contentType } = await withTimeBudget(waitsOf(requestBudgetMs), () =>
          untilTimeUsedUp(openMedia(objectStore, keyOfMediaName(name))),
        );
        const condition = request.headers['if-range'];
        const header = condition === undefined || condition === etag ? request.headers.range : undefined;
        const range = requestedRange(header, object.bytes);
        if (range === 'unsatisfiable') {
          return await reply
            .code(416)
            .headers({ 'content-range': `bytes */${object.bytes}`, 'cache-control': 'no-store' })
            .send();
        }
        reply.type(contentType);
        if (range === null) {
          return await reply
            .header('content-length', object.bytes)
            .send(contentFor(request, () => object.read()));
        }
        return await reply
          .code(206)
          .header('content-range', `bytes ${range.start}-${range.end}/${object.bytes}`)
          .header('content-length', range.end - range.start + 1)
          .send(contentFor(request, () => object.read(range)));
      } catch (error) {
        return refuseFile(request, reply, requestId, error, dependencies);
      }
    },
  );
};

/** A proof of many events takes minutes; each of them waits for the event store for its own limited time. */
const PROOF_MAX_MS = 300_000;
/** Each has a connection to the event store. */
const PROOFS_IN_FLIGHT_MAX = 8;

const PROOF_LATE = new Refusal('overloaded', 'The page took too long to make. Try again later.');

const fileNameOf = (statement: ProofStatement): string => {
  switch (statement.about) {
    case 'figure':
      return `proof-${statement.figure}-${statement.brand_id}`;
    case 'radar_item':
      return `proof-radar-${statement.item.id}`;
    case 'delivery':
      return `proof-delivery-${statement.delivery_id}`;
    case 'ad':
      return `ad-${statement.ad_id}`;
  }
};

/** Sends the bundle of a proof by signed URL, as it is read from the log. A bundle that was cut has no end line. */
export const registerProofs = (app: FastifyInstance, dependencies: ApiDependencies): void => {
  const { proofLinks, clock, log, pool, rawLog, objectStore } = dependencies;
  const limitProofs = createFileLimit(PROOFS_IN_FLIGHT_MAX);
  app.get<{ Querystring: Record<string, unknown> }>(
    PROOF_PATH,
    { exposeHeadRoute: true },
    async (request, reply) => {
      const requestId = requestIdOf(request.headers['x-request-id']);
      try {
        const statement = proofLinks.open(request.query, clock.now());
        limitProofs(reply);
        const name = fileNameOf(statement);
        log.info({ request_id: requestId, name }, 'proof');
        const isPage = statement.about === 'ad';
        reply
          .header('x-request-id', requestId)
          .header('content-disposition', `attachment; filename="${name}.${isPage ? 'html' : 'ndjson'}"`)
          .header('cache-control', 'private, no-store')
          .header('x-content-type-options', 'nosniff')
          .type(isPage ? 'text/html; charset=utf-8' : 'application/x-ndjson; charset=utf-8');
        if (isPage) {
          const left = new AbortController();
          reply.raw.once('close', () => left.abort());
          const signal = AbortSignal.any([left.signal, AbortSignal.timeout(PROOF_MAX_MS)]);
          const page = await writeAdPage(statement, { pool, rawLog, objectStore }, signal).catch(
            (error: unknown) => {
              throw signal.aborted && !left.signal.aborted ? PROOF_LATE : error;
            },
          );
          return await reply.send(page);
        }
        const lines = (): Readable =>
          Readable.from(proofLines(statement, { pool, rawLog }), {
            signal: AbortSignal.timeout(PROOF_MAX_MS),
          });
        return await reply.send(contentFor(request, lines));
      } catch (error) {
        if (reply.raw.closed) return reply.hijack();
        return refuseFile(request, reply, requestId, error, dependencies);
      }
    },
  );
};
