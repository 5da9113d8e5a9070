import { z } from 'zod';
import { type DetailCode, type ErrorCode, ERRORS, type ErrorType } from '#contracts/errors.ts';
import { BrandMeta, ErrorBody, ListMeta, Meta, PageMeta } from '#contracts/resources/envelope.ts';
import {
  deprecationHeaders,
  type Endpoint,
  errorsOf,
  scopesOf,
  type ReplyShape,
  TAGS,
} from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { freshnessExample } from '#operations/endpoint/examples.ts';
import { pastQuery, takesBrandSlug } from '#operations/endpoint/parameters.ts';
import { isList, isListOfBrand, mayBeRestated, ROW_FORMATS, writeRows } from '../server/list-formats.ts';
import {
  CHANGES_HEADERS,
  CORPUS_HEADERS,
  DEPRECATION_HEADERS,
  headerRefs,
  HEADERS,
  PARAMETERS,
  LINK_HEADERS,
  PAST_HEADERS,
  RATE_HEADERS,
  ROW_HEADERS,
} from './headers.ts';
import { guideInReference } from './guide.ts';
import { openApiWebhooks } from './webhooks.ts';

type Json = { readonly [key: string]: unknown };

/** Source: specification, part "Versioning". */
const CONTRACT_VERSION = '1.0.0';

const SCHEMA_PREFIX = '#/components/schemas/';
const REQUEST_ID_EXAMPLE = '5f0c9a3e-8d1b-4e6f-9a2c-7b4d1e8f0a63';
const AS_OF_EXAMPLE = '2026-11-20T06:00:00.000Z';

const META: Readonly<Record<ReplyShape, { readonly schema: z.ZodType; readonly example: Json }>> = {
  record: { schema: Meta, example: {} },
  brand: { schema: BrandMeta, example: { freshness: freshnessExample } },
  whole: { schema: ListMeta, example: { count: 1 } },
  paged: { schema: PageMeta, example: { count: 1 } },
};

export const replySchema = (endpoint: Endpoint): z.ZodType => {
  const { shape, data } = endpoint.reply;
  const list = z
    .array(data)
    .meta({ description: 'Items in the order of the list; empty when there are none.' });
  return z.strictObject({ data: isList(endpoint) ? list : data, meta: META[shape].schema });
};

/** A schema with an id becomes a component; others are inlined. */
const createSchemas = () => {
  const components: Record<string, unknown> = {};
  const lift = (schema: z.ZodType, io: 'input' | 'output'): Json => {
    const made = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
    const text = JSON.stringify(made, withoutFormatPatterns).replaceAll('"#/$defs/', `"${SCHEMA_PREFIX}`);
    const { $defs, $schema: _, ...rest } = JSON.parse(text) as Json & { $defs?: Record<string, Json> };
    for (const [id, definition] of Object.entries($defs ?? {})) components[id] = withoutId(definition);
    if (typeof rest['id'] !== 'string') return rest;
    components[rest['id']] = withoutId(rest);
    return { $ref: `${SCHEMA_PREFIX}${rest['id']}` };
  };
  return { components, lift };
};
type Lift = ReturnType<typeof createSchemas>['lift'];

/** The pattern of a format has several hundred characters; the format is readable. */
const withoutFormatPatterns = (_name: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('format' in value && 'pattern' in value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'pattern'));
};

/** `id` is the name of the component; inside the schema it is an unknown keyword. */
const withoutId = (schema: Json): Json =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== 'id'));

const parametersOf = (endpoint: Endpoint, lift: Lift): Json[] => {
  const parameter = (location: 'path' | 'query', name: string, schema: z.ZodType): Json => {
    // A schema with a transform has no input side, so it is documented by its output. Query parameters always
    // are.
    // A description equal to that of a component is left to the component.
    const { description = schema.description, ...rest } = lift(
      schema,
      schema instanceof z.ZodPipe || location === 'query' ? 'output' : 'input',
    );
    const example = location === 'path' ? { example: endpoint.paramsExample[name] } : {};
    return {
      name,
      in: location,
      ...(endpoint.past && name in pastQuery ? { 'x-beyond-contract': true } : {}),
      required: !schema.safeParse(undefined).success,
      ...(description ? { description } : {}),
      schema: rest,
      // One comma-separated value: `?types=a,b`, not `?types=a&types=b`.
      ...(rest['type'] === 'array' ? { style: 'form', explode: false } : {}),
      ...example,
    };
  };
  return [
    ...Object.entries(endpoint.params.shape).map(([name, schema]) =>
      parameter('path', name, schema as z.ZodType),
    ),
    ...Object.entries(endpoint.query.shape).map(([name, schema]) =>
      parameter('query', name, schema as z.ZodType),
    ),
    ...(endpoint.method === 'GET' ? [{ $ref: '#/components/parameters/MinPosition' }] : []),
    ...(endpoint.corpus ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
    ...(endpoint.method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
};

const ROWS: Json = {
  type: 'string',
  description:
    'All items from the cursor on, at most 10,000: one line of JSON each, or one row of CSV with the names of properties in the first. `limit` does not count. The reply ends with the trailer `x-next-cursor` when there are more.',
};

const rowsOf = (endpoint: Endpoint): Json => {
  const rows = endpoint.reply.example as Parameters<typeof writeRows>[2];
  return Object.fromEntries(
    ROW_FORMATS.map((type) => [type, { schema: ROWS, example: writeRows(endpoint, type, rows, true) }]),
  );
};

const successOf = (endpoint: Endpoint, lift: Lift): Json => {
  const { shape, example, status } = endpoint.reply;
  const headers = [
    ...RATE_HEADERS,
    ...(endpoint.corpus ? CORPUS_HEADERS : []),
    ...(endpoint.past ? PAST_HEADERS : []),
    ...('since_token' in endpoint.query.shape ? CHANGES_HEADERS : []),
    ...(isList(endpoint) ? ROW_HEADERS : []),
    ...(isListOfBrand(endpoint) || mayBeRestated(endpoint) ? LINK_HEADERS : []),
    ...(endpoint.method !== 'GET' || endpoint.reads.length > 0 ? ['x-read-position'] : []),
    ...(endpoint.method === 'POST' ? ['idempotency-replayed'] : []),
    ...(endpoint.deprecated ? Object.keys(deprecationHeaders(endpoint.deprecated)) : []),
  ];
  const meta = {
    request_id: REQUEST_ID_EXAMPLE,
    as_of: AS_OF_EXAMPLE,
    lag_hours: 3.5,
    ...META[shape].example,
  };
  return {
    [status]: {
      description: status === 201 ? 'Done.' : 'Found.',
      headers: headerRefs(headers),
      content: {
        'application/json': {
          schema: lift(replySchema(endpoint), 'output'),
          example: { data: example, meta },
        },
        ...(isList(endpoint) ? rowsOf(endpoint) : {}),
      },
    },
    ...(takesBrandSlug(endpoint) ? { 308: { $ref: '#/components/responses/SlugReplaced' } } : {}),
    ...(endpoint.corpus ? { 304: { $ref: '#/components/responses/NotModified' } } : {}),
  };
};

const componentNameOf = (type: string): string =>
  type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const statusOf = (type: ErrorType): number => {
  const found = Object.values(ERRORS).find((error) => error.type === type);
  if (!found) throw new Error(`no status for ${type}`);
  return found.status;
};

const deprecationText = ({ deprecated }: Endpoint): string => {
  if (deprecated === undefined) return '';
  const { since, sunset, successor } = deprecated;
  const end = sunset === undefined ? '' : ` From ${sunset} on it may be gone.`;
  return `\n\nDeprecated since ${since}: use ${successor}.${end}`;
};

const operationOf = (endpoint: Endpoint, lift: Lift): Json => ({
  operationId: endpoint.operationId,
  summary: endpoint.summary,
  description: `${endpoint.description}${deprecationText(endpoint)}\n\nScope: \`${scopesOf(endpoint).join('` or `')}\`.`,
  ...(endpoint.beyondContract ? { 'x-beyond-contract': true } : {}),
  ...(endpoint.deprecated ? { deprecated: true } : {}),
  tags: [endpoint.tag],
  security: [{ apiKey: [] }],
  parameters: parametersOf(endpoint, lift),
  ...(endpoint.body
    ? {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: lift(endpoint.body.schema, 'input'),
              example: endpoint.body.example,
            },
          },
        },
      }
    : {}),
  responses: {
    ...successOf(endpoint, lift),
    ...Object.fromEntries(
      errorsOf(endpoint).map((type) => [
        statusOf(type),
        { $ref: `#/components/responses/${componentNameOf(type)}` },
      ]),
    ),
    406: { $ref: '#/components/responses/NotAcceptable' },
    ...(endpoint.body
      ? {
          413: { $ref: '#/components/responses/BodyTooLarge' },
          415: { $ref: '#/components/responses/UnsupportedMediaType' },
        }
      : {}),
  },
});

const ERROR_MEANINGS: Readonly<Record<ErrorType, string>> = {
  bad_request: 'The input was rejected; `details` lists the issues.',
  unauthorized: 'Missing, invalid or revoked key.',
  payment_required: 'The quota of the plan is used up.',
  forbidden: 'The key or plan lacks the scope.',
  not_found: 'No such resource.',
  conflict: 'It exists already, or changed meanwhile.',
  rate_limited: 'Wait until the time given by `x-ratelimit-reset`.',
  internal: 'Try again, and report the `request_id`.',
  unavailable:
    'Too busy, or the request took too long: narrow it, or try again after `retry-after`. At most two searches of a workspace run at the same time and eight wait.',
};

const errorResponseOf = (type: ErrorType, error: Json): Json => {
  const status = statusOf(type);
  const details =
    type === 'bad_request'
      ? { details: [{ path: 'limit', message: 'Too big: expected number to be <=100', code: 'too_big' }] }
      : {};
  const example = {
    error: { type, message: ERROR_MEANINGS[type], status, request_id: REQUEST_ID_EXAMPLE, ...details },
  };
  const headers = type === 'unauthorized' ? ['x-request-id', 'www-authenticate'] : RATE_HEADERS;
  return {
    description: ERROR_MEANINGS[type],
    headers: headerRefs(
      type === 'rate_limited' || type === 'unavailable' ? [...headers, 'retry-after'] : headers,
    ),
    content: { 'application/json': { schema: error, example } },
  };
};

/** Refusals of HTTP, which the contract's types do not tell apart, each with the code in its details. */
const HTTP_REFUSALS = {
  not_acceptable: { meaning: 'The endpoint sends none of the types in `accept`.', detail: null },
  body_too_large: {
    meaning: 'The body is too large: send a smaller one, or several requests.',
    detail: 'body_too_large',
  },
  unsupported_media_type: {
    meaning: 'Send the body as `content-type: application/json`, without `content-encoding`.',
    detail: 'content_type',
  },
} as const satisfies Partial<Record<ErrorCode, { meaning: string; detail: DetailCode | null }>>;

const httpErrorResponse = (refused: keyof typeof HTTP_REFUSALS, error: Json): Json => {
  const { type, status } = ERRORS[refused];
  const { meaning: message, detail: code } = HTTP_REFUSALS[refused];
  const details = code === null ? {} : { details: [{ path: '', message, code }] };
  const example = { error: { type, message, status, request_id: REQUEST_ID_EXAMPLE, ...details } };
  return {
    description: message,
    headers: headerRefs(RATE_HEADERS),
    content: { 'application/json': { schema: error, example } },
  };
};

const DESCRIPTION = `Observed ads of one public ad library: what started, stopped and changed.

Coverage is the brands this service tracks; a brand that is absent is no evidence that it runs no ads. There are no
money figures and none may be inferred. Longevity is observed survival, not performance. Quote figures with their
\`meta.as_of\`.`;

const createContract = (endpoints: readonly Endpoint[]): Json => {
  const { components, lift } = createSchemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operationOf(endpoint, lift);
  }
  const error = lift(ErrorBody, 'output');
  const types = [...new Set(endpoints.flatMap(errorsOf))];
  const responses = {
    SlugReplaced: {
      description: 'The brand has another slug now; `location` is the address with it.',
      headers: headerRefs([...RATE_HEADERS, 'location', 'cache-control']),
    },
    NotModified: {
      description: 'The figures named by `if-none-match` still hold.',
      headers: headerRefs([...RATE_HEADERS, ...CORPUS_HEADERS]),
    },
    ...Object.fromEntries(types.map((type) => [componentNameOf(type), errorResponseOf(type, error)])),
    ...Object.fromEntries(
      (Object.keys(HTTP_REFUSALS) as (keyof typeof HTTP_REFUSALS)[]).map((code) => [
        componentNameOf(code),
        httpErrorResponse(code, error),
      ]),
    ),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ad-Intelligence REST Service',
      version: CONTRACT_VERSION,
      summary: 'Observed ads of one public ad library.',
      description: `${DESCRIPTION}\n\n${guideInReference()}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: openApiWebhooks(lift),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_live_… or svc_test_…',
          description:
            'An API key of a workspace: `Authorization: Bearer <API_KEY>`. Keys of the test world begin with `svc_test_`.',
        },
      },
      parameters: PARAMETERS,
      headers: endpoints.some(({ deprecated }) => deprecated)
        ? { ...HEADERS, ...DEPRECATION_HEADERS }
        : HEADERS,
      responses,
      schemas: Object.fromEntries(
        Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    },
  };
};

/** Kept, because one takes a third of a second to create. */
const contracts = new WeakMap<readonly Endpoint[], Json>();

/** `baseUrl`: base URL of this installation; `/` in the committed file. */
export const openApiDocument = (baseUrl = '/', endpoints: readonly Endpoint[] = ENDPOINTS): Json => {
  const contract = contracts.get(endpoints) ?? createContract(endpoints);
  contracts.set(endpoints, contract);
  const { openapi, info, ...parts } = contract;
  return { openapi, info, servers: [{ url: baseUrl, description: 'This service.' }], ...parts };
};
