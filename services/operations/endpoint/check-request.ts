import { type DetailCode, type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { type Endpoint, scopesOf } from './define-endpoint.ts';
import { z } from 'zod';
import type { Cursors } from '../dependencies/cursors.ts';
import type { Reply } from './reply.ts';

/**
 * Throws 404 and not 403 for another workspace: no caller learns which exist. `undefined`: the endpoint has no
 * workspace.
 */
export const requireWorkspace = (workspaceId: unknown, caller: Caller): void => {
  if (workspaceId !== undefined && workspaceId !== caller.workspaceId) {
    throw new Refusal(
      'not_found',
      'Workspace not found for this key. `GET /v1/me` returns the workspace of the key.',
    );
  }
};

/** Throws `Refusal`. The role of the member limits the scopes of a key. */
export const requireScope = (endpoint: Endpoint, caller: Caller): void => {
  const scopes = scopesOf(endpoint);
  if (!scopes.some((scope) => caller.scopes.has(scope))) {
    throw new Refusal('scope_missing', `This endpoint requires a key with the scope ${scopes.join(' or ')}.`);
  }
};

/** More details do not help the caller. */
const DETAILS_MAX = 50;

export type UncheckedInput = {
  readonly params: unknown;
  /** `undefined` without query parameters: the validated defaults are then cached. */
  readonly query: unknown;
  /** `undefined` without a body. `faults` when the transport could not read it. */
  readonly body: ReadBody;
};
export type ReadBody = { readonly value: unknown } | { readonly faults: readonly ErrorDetail[] };

export type ValidInput = {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
};

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const FORMAT_WORDS: Readonly<Record<string, string>> = {
  datetime: 'a time in UTC such as `2026-11-01T00:00:00Z`',
  date: 'a date such as `2026-11-01`',
};
const choiceOf = (values: readonly unknown[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.map((value) => `\`${String(value)}\``).join(', ')}`;

const wantedBy = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected];
    case 'invalid_value':
      return choiceOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue['options']) ? choiceOf(issue['options']) : undefined;
    case 'invalid_format':
      return FORMAT_WORDS[issue.format];
    default:
      return undefined;
  }
};

/** Says what to send, in place of the types that zod names. A message of the schema comes first; `undefined` leaves that of zod. */
export const inputFault = (issue: z.core.$ZodRawIssue): string | undefined => {
  const wanted = wantedBy(issue);
  return wanted && (issue.input === undefined ? `is missing: send ${wanted}` : `must be ${wanted}`);
};
const WORDED = { error: inputFault };

const toDetails = (error: z.core.$ZodError): readonly ErrorDetail[] =>
  error.issues.flatMap((issue): ErrorDetail[] => {
    const path = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message, code: issue.code }];
    return issue.keys.map((key) => ({
      path: path === '' ? key : `${path}.${key}`,
      message: 'Unknown parameter or property.',
      code: issue.code,
    }));
  });

export const bodyFault = (message: string, code: DetailCode): ReadBody => ({
  faults: [{ path: '', message, code }],
});
export const BODY_NOT_ALLOWED = bodyFault('This endpoint takes no body.', 'body_not_allowed');
export const BODY_MISSING = bodyFault('A JSON body is required.', 'body_missing');

const withoutRules = new WeakMap<z.ZodObject, z.ZodObject>();

/** `null` when the schema has no rules over several properties. */
const propertiesOf = (schema: z.ZodType): z.ZodObject | null => {
  if (!(schema instanceof z.ZodObject) || !schema.def.checks?.length) return null;
  const cached = withoutRules.get(schema);
  if (cached) return cached;
  const properties = schema.clone({ ...schema.def, checks: [] });
  withoutRules.set(schema, properties);
  return properties;
};

/** Validates each property before rules over several: zod gives these also a wrong format, such as a date `a`. */
const validate = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> => {
  const single = propertiesOf(schema)?.safeParse(value, WORDED);
  return single?.success === false
    ? { success: false, error: single.error as never }
    : schema.safeParse(value, WORDED);
};

const validateBody = (endpoint: Endpoint, body: ReadBody): ReadBody => {
  if ('faults' in body) return body;
  if (!endpoint.body) return body.value === undefined ? body : BODY_NOT_ALLOWED;
  if (body.value === undefined) return BODY_MISSING;
  const checked = validate(endpoint.body.schema, body.value);
  return checked.success ? { value: checked.data } : { faults: toDetails(checked.error) };
};

/** Caches validated queries without parameters, which most reads have. */
const defaultQueries = new WeakMap<Endpoint, Record<string, unknown>>();

/** `undefined` when the endpoint requires a query. */
const defaultQuery = (endpoint: Endpoint): Record<string, unknown> | undefined => {
  const cached = defaultQueries.get(endpoint);
  if (cached) return cached;
  const parsed = validate(endpoint.query, {});
  if (!parsed.success) return undefined;
  defaultQueries.set(endpoint, parsed.data);
  return parsed.data;
};

/** Throws one `Refusal` with the details of all faults. `transportFaults` are reported first. */
export const validateEndpointInput = (
  endpoint: Endpoint,
  input: UncheckedInput,
  transportFaults: readonly ErrorDetail[] = [],
): ValidInput => {
  const details = [...transportFaults];
  const params = validate(endpoint.params, input.params);
  if (!params.success) details.push(...toDetails(params.error));

  let validQuery = input.query === undefined ? defaultQuery(endpoint) : undefined;
  if (!validQuery) {
    const query = validate(endpoint.query, input.query ?? {});
    if (query.success) validQuery = query.data;
    else details.push(...toDetails(query.error));
  }

  const body = validateBody(endpoint, input.body);
  if ('faults' in body) details.push(...body.faults);
  if (details.length > 0 || !params.success || !validQuery || 'faults' in body) {
    throw new Refusal('invalid_input', 'The input was rejected; see details.', details.slice(0, DETAILS_MAX));
  }
  return { params: params.data, query: validQuery, body: body.value };
};

export type PageStart = {
  readonly filters: string;
  /** `null` for the first page. */
  readonly after: readonly (string | number)[] | null;
};

const NOT_PAGED: PageStart = { filters: '', after: null };

/** Throws `Refusal` for an altered cursor, or one of another endpoint, workspace or filter. Only `limit` may change. */
export const openPageCursor = (
  endpoint: Endpoint,
  caller: Caller,
  { params, query }: ValidInput,
  cursors: Cursors,
): PageStart => {
  if (endpoint.reply.shape !== 'paged') return NOT_PAGED;
  const { cursor, limit: _, ...others } = query;
  const filters = JSON.stringify([endpoint.operationId, caller.workspaceId, params, others]);
  return { filters, after: typeof cursor === 'string' ? cursors.open(cursor, filters) : null };
};

/** `null` when the reply is the last page or not paged. */
export const signNextCursor = (filters: string, reply: Reply, cursors: Cursors): string | null =>
  reply.next ? cursors.sign(filters, reply.next) : null;
