import fc from 'fast-check';
import { openApiDocument } from '#services/api/openapi/document.ts';

/** Requests with two hostile parameters or properties each, drawn from the OpenAPI document. */

type Schema = {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: string;
  readonly schema: Schema;
};
type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example: object } };
  };
};
const document = openApiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
};

/** Request whose values of `path` and `query` are percent-encoded. */
export type PairRequest = {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly template: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

const HOSTILE = [
  '',
  'a',
  '0',
  '-1',
  '1e9',
  '1.5',
  'NaN',
  'null',
  '999999999999999',
  '99999999999999999999',
  '1'.repeat(400),
  '2026-02-30',
  '2026-13-01',
  '0000-01-01',
  '0001-01-01',
  '2000-01-01',
  '2999-12-31',
  '9999-12-31',
  '2026-11-20T00:00:00Z',
  '__proto__',
  'constructor',
  'toString',
  ',',
  'a,b',
  "' or 1=1 --",
  '%',
  '\\',
  '../..',
  'US',
  'us',
  '\u0000',
  '\u2028',
  'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11',
  '1203847561029384',
  'harbor-and-pine',
  '\u{1F600}',
  '\uFFFE',
];
const HOSTILE_VALUES = [...HOSTILE, null, 0, -1, 1.5, 1e21, true, [], {}, [null], ['a'], { a: 1 }] as const;
const DATES = ['2000-01-01', '2026-11-13', '2026-11-20', '2999-12-31'] as const;

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

/** Draws a value that the schema may accept, so that a pair is wrong only together. */
const fitting = (schema: Schema): fc.Arbitrary<string> => {
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String));
  if (schema.format === 'date') return fc.constantFrom(...DATES);
  if (schema.type === 'integer') {
    return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1e6, 1e9) }).map(String);
  }
  return fc.constantFrom('a', 'shoes', 'US', 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11', '104857600123456');
};
const text = (schema: Schema): fc.Arbitrary<string> =>
  fc
    .oneof(
      fitting(resolved(schema)),
      fc.constantFrom(...HOSTILE),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    .map(encoded);

const IN_HEADERS: Readonly<Record<string, readonly string[]>> = {
  'min-position': [
    '0',
    '1',
    '00',
    '9'.repeat(15),
    '9223372036854775807',
    '9223372036854775808',
    '9'.repeat(20),
  ],
  'if-none-match': ['*', '"a"', 'W/"a"', 'W/"a", "b",*', '"', 'W/', ',,,', '"a'.repeat(2_000)],
  'idempotency-key': ['a', '~'.repeat(255), '~'.repeat(256), 'a b', '"a"'],
  'x-request-id': ['a', 'a b', '-'.repeat(4_000)],
  traceparent: [
    '00-0-0-0',
    `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    `ff-${'0'.repeat(32)}-${'0'.repeat(16)}-00`,
  ],
  accept: ['*/*', 'text/html', ',', 'a/b;q=9'],
};
/** Headers of every operation, which the document does not name for each. */
const EVERYWHERE = ['x-request-id', 'traceparent', 'accept'];
/** Hostile values that HTTP can carry in a header. UTF-8 is sent byte by byte. */
const CARRIED = HOSTILE.map((value) => Buffer.from(value.toWellFormed()).toString('latin1')).filter(
  (value) => !/\p{Cc}/u.test(value.replaceAll(/[\u0080-\u009f]/g, '')),
);
const header = (name: string): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...CARRIED), fc.constantFrom(...(IN_HEADERS[name] ?? CARRIED)));

const parametersOf = ({ parameters = [] }: Operation): readonly Parameter[] =>
  parameters.map((one) => {
    if ('name' in one) return one;
    const found = document.components.parameters[one.$ref.split('/').at(-1) ?? ''];
    if (!found) throw new Error(`${one.$ref} is in no part of the document`);
    return found;
  });

const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());

const requestsOf = (template: string, method: string, operation: Operation): fc.Arbitrary<PairRequest> => {
  const parameters = parametersOf(operation);
  const inPath = parameters.filter((one) => one.in === 'path');
  const inQuery = parameters.filter((one) => one.in === 'query');
  const inHeaders = [
    ...parameters.filter((one) => one.in === 'header').map(({ name }) => name),
    ...EVERYWHERE,
  ];
  const content = operation.requestBody?.content['application/json'];
  const properties = Object.keys(resolved(content?.schema ?? {}).properties ?? {});
  const path = fc.tuple(
    ...inPath.map(({ name, example, schema }) => {
      const given = fc.constant(encoded(example ?? 'a'));
      // An empty segment is another path.
      const hostile = text(schema).map((value) => value || 'a');
      return fc.tuple(
        fc.constant(name),
        name === 'ws' ? given : fc.oneof({ weight: 3, arbitrary: given }, hostile),
      );
    }),
  );
  const required = inQuery.filter((one) => one.required).map(({ name }) => name);
  const query = fc.subarray(inQuery, { maxLength: Math.min(2, inQuery.length) }).chain((pair) => {
    const chosen = inQuery.filter((one) => pair.includes(one) || required.includes(one.name));
    return fc.tuple(...chosen.map(({ name, schema }) => fc.tuple(fc.constant(name), text(schema))));
  });
  const body = content
    ? fc
        .subarray(properties, { maxLength: Math.min(2, properties.length) })
        .chain((pair) =>
          fc.tuple(...pair.map((name) => fc.tuple(fc.constant(name), fc.constantFrom(...HOSTILE_VALUES)))),
        )
        .map((pairs) => ({ ...content.example, ...Object.fromEntries(pairs) }))
    : fc.constant(undefined);
  return fc.record({
    operationId: fc.constant(operation.operationId),
    method: fc.constant(method.toUpperCase() as PairRequest['method']),
    template: fc.constant(template),
    path: path.map((pairs) => Object.fromEntries(pairs)),
    query: query.map((pairs) => Object.fromEntries(pairs)),
    headers: fc
      .subarray(inHeaders, { maxLength: 2 })
      .chain((pair) => fc.tuple(...pair.map((name) => fc.tuple(fc.constant(name), header(name)))))
      .map((pairs) => Object.fromEntries(pairs)),
    body,
  });
};

const METHODS = ['get', 'post', 'patch', 'delete'];

export const DRAWN_HEADERS: ReadonlySet<string> = new Set([
  ...Object.values(document.paths)
    .flatMap((operations) =>
      Object.entries(operations)
        .filter(([method]) => METHODS.includes(method))
        .flatMap(([, operation]) => parametersOf(operation).filter((one) => one.in === 'header')),
    )
    .map(({ name }) => name),
  ...EVERYWHERE,
]);

export const pairRequest: fc.Arbitrary<PairRequest> = fc.oneof(
  ...Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => requestsOf(template, method, operation)),
  ),
);

export const urlOf = ({ template, path, query }: PairRequest, workspaceId: string): string => {
  const named: Readonly<Record<string, string>> = { ...path, ws: workspaceId };
  const words = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return `${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '')}${words.length === 0 ? '' : `?${words.join('&')}`}`;
};
