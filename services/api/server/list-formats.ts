import Negotiator from 'negotiator';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { csvLines } from '#application/exports/csv-lines.ts';
import { setRateHeaders } from '#application/access/request-counts.ts';
import { Refusal } from '#contracts/errors.ts';
import { deprecationHeaders, type Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { signNextCursor } from '#operations/endpoint/check-request.ts';
import { pastHeadersOf, type Reply, sinceTokenHeader } from '#operations/endpoint/reply.ts';
import { acceptedEncoding, openCompressor } from '#platform/http/encoding.ts';
import type { Headers } from '#platform/http/http-server.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { RequestContext } from './steps.ts';

/** Sends lists as lines of JSON or as CSV, from the page of the request to the end. */

const JSON_TYPE = 'application/json';
const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
export const ROW_FORMATS = [NDJSON, CSV] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

export const isList = ({ reply }: Endpoint): boolean => reply.shape === 'paged' || reply.shape === 'whole';

/** True for lists about the brand of the path or of `brand_id`, and for records of a brand that hold a list. */
export const isListOfBrand = (endpoint: Endpoint): boolean => {
  const { method, path, query, reply } = endpoint;
  const takesBrand = path.includes('/{brandId}/') || query.shape['brand_id'] !== undefined;
  return method === 'GET' && takesBrand && (isList(endpoint) || reply.list !== undefined);
};

type Lists = Readonly<Record<string, readonly unknown[] | null>>;

/** True for records whose restatements `link` names. */
export const mayBeRestated = ({ reads, reply }: Endpoint): boolean =>
  reply.shape === 'record' && reads.includes('restatements');

/**
 * An empty list about one brand names the address that says what was observed of it, and what was not; a restated document, that
 * of its restatements.
 */
export const linkHeadersOf = (
  { endpoint, params, query }: Pick<RequestContext, 'endpoint' | 'params' | 'query'>,
  { data, count, describedBy }: Reply,
  baseUrl: string,
): Headers => {
  if (describedBy !== undefined) return { link: `<${baseUrl}${describedBy}>; rel="describedby"` };
  const brand = (params['brandId'] ?? query['brand_id']) as string | undefined;
  if (brand === undefined || !isListOfBrand(endpoint)) return {};
  const { reply, deprecated } = endpoint;
  // A record without an observation has `null` in place of its list.
  const listed = reply.list === undefined ? count : (JSON.parse(data) as Lists)[reply.list]?.length;
  if ((listed ?? 0) > 0) return {};
  const link = `<${baseUrl}/v1/brands/${brand}/coverage>; rel="describedby"`;
  return { link: deprecated ? `${deprecationHeaders(deprecated)['link']}, ${link}` : link };
};

/** `null` for JSON. Throws `Refusal` when the client accepts nothing that the endpoint sends. */
export const chooseFormat = (endpoint: Endpoint, accept: string | undefined): RowFormat | null => {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return null;
  const offered = [JSON_TYPE, ...(isList(endpoint) ? ROW_FORMATS : [])];
  const chosen = new Negotiator({ headers: { accept } }).mediaType(offered);
  if (chosen === undefined)
    throw new Refusal('not_acceptable', `Send \`accept: ${offered.join('` or `')}\`, or no \`accept\`.`);
  return chosen === JSON_TYPE ? null : (chosen as RowFormat);
};

type Row = Readonly<Record<string, unknown>>;
type Cell = string | number | null;
type Column = { readonly name: string; readonly read: (row: Row) => Cell };

const toCell = (value: unknown): Cell => {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
};

const unwrapped = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;

/** Paths of an item's properties; those of nested objects have the names of both, with a dot. */
const pathsOf = (type: z.ZodType): readonly (readonly string[])[] => {
  const schema = unwrapped(type);
  if (schema instanceof z.ZodUnion) return (schema.options as readonly z.ZodType[]).flatMap(pathsOf);
  if (!(schema instanceof z.ZodObject)) return [[]];
  return Object.entries(schema.shape).flatMap(([name, property]) =>
    pathsOf(property as z.ZodType).map((path) => [name, ...path]),
  );
};

const columns = new WeakMap<Endpoint, readonly Column[]>();

/** One column for each property; a list is JSON text. */
const columnsOf = (endpoint: Endpoint): readonly Column[] => {
  const known = columns.get(endpoint);
  if (known) return known;
  const paths = new Map(pathsOf(endpoint.reply.data).map((path) => [path.join('.'), path]));
  const made = [...paths].map(([name, path]) => ({
    name: name === '' ? 'value' : name,
    read: (row: Row) => toCell(path.reduce<unknown>((value, key) => (value as Row | null)?.[key], row)),
  }));
  columns.set(endpoint, made);
  return made;
};

/** Rows of one reply. A longer list goes on at the cursor in the trailer `x-next-cursor`. */
const ROWS_MAX = 10_000;
const PAGE_ROWS = 100;
const STREAM_MAX_MS = 60_000;
/** In each process. */
const STREAMS_OF_WORKSPACE_MAX = 2;
const RETRY_AFTER_SECONDS = 2;
const BUSY = new Refusal(
  'overloaded',
  `At most ${STREAMS_OF_WORKSPACE_MAX} lists of a workspace are sent as rows at the same time. Try again in ${RETRY_AFTER_SECONDS} s.`,
  [],
  RETRY_AFTER_SECONDS,
);

/** `isFirst`: CSV begins with the names of the columns. */
export const writeRows = (
  endpoint: Endpoint,
  format: RowFormat,
  rows: readonly Row[],
  isFirst: boolean,
): string => {
  if (format === NDJSON) return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const all = columnsOf(endpoint);
  const cells = rows.map((row) => all.map(({ read }) => read(row)));
  return csvLines(isFirst ? [all.map(({ name }) => name), ...cells] : cells, '\r\n');
};

/** Reads the page that follows `after`. */
export type ReadPage = (limit: number, after: NonNullable<Reply['next']> | null) => Promise<Reply>;

/** Running ones by workspace. */
export type ListStreams = { readonly running: Map<string, number>; readonly rowsMax: number };
export const createListStreams = (rowsMax = ROWS_MAX): ListStreams => ({ running: new Map(), rowsMax });

/** Takes a place of the workspace. The returned function frees it, once. Throws `Refusal` when none is free. */
const takePlace = (running: Map<string, number>, workspaceId: string): (() => void) => {
  const count = running.get(workspaceId) ?? 0;
  if (count >= STREAMS_OF_WORKSPACE_MAX) throw BUSY;
  running.set(workspaceId, count + 1);
  let isTaken = true;
  return () => {
    if (!isTaken) return;
    isTaken = false;
    const left = (running.get(workspaceId) ?? 1) - 1;
    if (left === 0) running.delete(workspaceId);
    else running.set(workspaceId, left);
  };
};

/** Counts as one request. A client sees that a reply was cut, because it has no end. */
export const sendRows = async (
  context: RequestContext,
  { baseUrl, cursors, log, listStreams: { running, rowsMax } }: ApiDependencies,
  format: RowFormat,
  readPage: ReadPage,
): Promise<void> => {
  const { endpoint, reply, request } = context;
  const free = takePlace(running, context.caller?.workspaceId ?? '');
  try {
    const first = await readPage(PAGE_ROWS, context.after);
    if (reply.raw.headersSent) return;
    const lines = async function* (): AsyncGenerator<string> {
      let page = first;
      for (let sent = 0; ; ) {
        const rows = JSON.parse(page.data) as readonly Row[];
        yield writeRows(endpoint, format, rows, page === first);
        sent += rows.length;
        if (!page.next || sent >= rowsMax) break;
        page = await readPage(PAGE_ROWS, page.next);
      }
      const cursor = signNextCursor(context.filters, page, cursors);
      if (cursor !== null) reply.raw.addTrailers({ 'x-next-cursor': cursor });
      // Before the client sees the end and sends its next request.
      free();
    };
    const headers: Headers = {
      'x-request-id': context.requestId,
      'content-type': `${format}; charset=utf-8`,
      'cache-control': 'private, no-store',
      'x-as-of': first.asOf ?? new Date(context.now).toISOString(),
      trailer: 'x-next-cursor',
      vary: 'accept, accept-encoding',
      ...pastHeadersOf(first),
      ...linkHeadersOf(context, first, baseUrl),
      ...sinceTokenHeader(first, true),
    };
    if (context.allowance) setRateHeaders(headers, context.allowance);
    if (first.position !== undefined && first.position !== null)
      headers['x-read-position'] = first.position.toString();
    const encoding = acceptedEncoding(request.headers['accept-encoding']?.toString());
    if (encoding !== null) headers['content-encoding'] = encoding;
    reply.hijack();
    reply.raw.writeHead(200, headers);
    if (request.method === 'HEAD') {
      reply.raw.end();
      return;
    }
    const signal = AbortSignal.timeout(STREAM_MAX_MS);
    const source = Readable.from(lines());
    await (encoding === null
      ? pipeline(source, reply.raw, { signal })
      : pipeline(source, openCompressor(encoding), reply.raw, { signal })
    ).catch((error: unknown) => {
      log.warn({ err: error, request_id: context.requestId }, 'list not sent to its end');
    });
  } finally {
    free();
  }
};
