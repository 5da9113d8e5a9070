import { z } from 'zod';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { Endpoint } from './define-endpoint.ts';

/** Maximum number of details in one error. More do not help the caller. */
const DETAILS_MAX = 50;

/** Input of an endpoint before validation. */
export type UncheckedInput = {
  readonly params: unknown;
  /** `undefined` when the request has no query parameters: the validated defaults are then cached. */
  readonly query: unknown;
  /** `undefined` when the request has no body. `faults` when the transport could not read the body. */
  readonly body: ReadBody;
};
export type ReadBody = { readonly value: unknown } | { readonly faults: readonly ErrorDetail[] };

/** Input that satisfies the contract of an endpoint, with defaults applied. */
export type ValidInput = {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
};

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

export const bodyFault = (message: string, code: string): ReadBody => ({
  faults: [{ path: '', message, code }],
});
/** Fault of a request with a body to an endpoint without one. */
export const BODY_NOT_ALLOWED = bodyFault('This endpoint takes no body.', 'body_not_allowed');
/** Fault of a request without a body to an endpoint that requires one. */
export const BODY_MISSING = bodyFault('A JSON body is required.', 'body_missing');

/** Schemas without their rules over several properties, by the whole schema. */
const withoutRules = new WeakMap<z.ZodObject, z.ZodObject>();

/** Returns the object schema without its rules over several properties. `null` when it has none. */
const propertiesOf = (schema: z.ZodType): z.ZodObject | null => {
  if (!(schema instanceof z.ZodObject) || !schema.def.checks?.length) return null;
  const cached = withoutRules.get(schema);
  if (cached) return cached;
  const properties = schema.clone({ ...schema.def, checks: [] });
  withoutRules.set(schema, properties);
  return properties;
};

/**
 * Validates each property by itself, and then the rules over several properties. Zod would also give these rules a
 * property of the right type in the wrong format, such as a date `a`, which they cannot compute with.
 */
const validate = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> => {
  const single = propertiesOf(schema)?.safeParse(value);
  return single?.success === false
    ? { success: false, error: single.error as never }
    : schema.safeParse(value);
};

const validateBody = (endpoint: Endpoint, body: ReadBody): ReadBody => {
  if ('faults' in body) return body;
  if (!endpoint.body) return body.value === undefined ? body : BODY_NOT_ALLOWED;
  if (body.value === undefined) return BODY_MISSING;
  const checked = validate(endpoint.body.schema, body.value);
  return checked.success ? { value: checked.data } : { faults: toDetails(checked.error) };
};

/** Validated queries of requests without query parameters, which are most reads. */
const defaultQueries = new WeakMap<Endpoint, Record<string, unknown>>();

/** Returns the query of a request without query parameters. `undefined` when the endpoint requires one. */
const defaultQuery = (endpoint: Endpoint): Record<string, unknown> | undefined => {
  const cached = defaultQueries.get(endpoint);
  if (cached) return cached;
  const parsed = validate(endpoint.query, {});
  if (!parsed.success) return undefined;
  defaultQueries.set(endpoint, parsed.data);
  return parsed.data;
};

/**
 * Validates path parameters, query and body against the contract of the endpoint. Throws one `Refusal` with the
 * details of all faults. `transportFaults` are reported first.
 */
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
