import { readFileSync } from 'node:fs';

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
};
type Documented = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Partial<Parameter>[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
};
type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Query parameter or property of a body. */
export type Field = {
  readonly name: string;
  readonly place: 'query' | 'body';
  /** Types of JSON; several where the document allows several. */
  readonly types: ReadonlySet<string>;
  /** `null` when any text may be sent. */
  readonly choices: readonly string[] | null;
  readonly description: string;
};

export type Operation = Pick<Documented, 'operationId' | 'summary' | 'description'> & {
  readonly method: string;
  readonly path: string;
  /** Parameters of the path in order, without `ws`. */
  readonly pathNames: readonly string[];
  readonly isPaged: boolean;
  readonly fields: readonly Field[];
};

const FILE = new URL('../../contracts/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(FILE, 'utf8')) as ApiDocument;

const variantsOf = (schema: Schema): readonly Schema[] => {
  const named = schema.$ref && components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
  const { anyOf, oneOf, ...plain } = named || schema;
  return (anyOf ?? oneOf)?.flatMap(variantsOf) ?? [plain];
};

/** Several schemas where a body has variants. */
const fieldOf = (name: string, place: Field['place'], given: readonly Schema[]): Field => {
  const variants = given.flatMap(variantsOf);
  const values = variants.map((one) => one.enum ?? ('const' in one ? [one.const] : null));
  return {
    name,
    place,
    types: new Set(variants.flatMap(({ type = 'string' }) => type)),
    choices: values.every((one, index) => one !== null || variants[index]?.type === 'null')
      ? [...new Set(values.flatMap((one) => one ?? ['null']).map(String))]
      : null,
    description: given.find(({ description }) => description !== undefined)?.description ?? '',
  };
};

const bodyFields = (schema: Schema): readonly Field[] => {
  const properties = variantsOf(schema).flatMap((variant) => Object.entries(variant.properties ?? {}));
  const byName = Map.groupBy(properties, ([name]) => name);
  return [...byName].map(([name, given]) =>
    fieldOf(
      name,
      'body',
      given.map(([, one]) => one),
    ),
  );
};

const operationOf = (method: string, path: string, documented: Documented): Operation => {
  const query = documented.parameters
    .filter((one) => one.in === 'query')
    .map(({ name = '', schema, description = '' }) => fieldOf(name, 'query', [{ ...schema, description }]));
  const body = documented.requestBody?.content['application/json'].schema;
  return {
    ...documented,
    method,
    path,
    pathNames: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== 'ws'),
    isPaged: query.some(({ name }) => name === 'cursor'),
    fields: [...query, ...(body ? bodyFields(body) : [])],
  };
};

/** In the order of the document. */
export const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => operationOf(method, path, one)),
);

/** Value of a field as its text on the command line. Throws `SyntaxError` for a text that is not JSON where it must be. */
export const valueOf = ({ types, place }: Field, text: string): unknown => {
  if (types.has('array') && !text.startsWith('[')) return text.split(',');
  if (place === 'query') return text;
  if (types.has('null') && text === 'null') return null;
  return types.has('string') ? text : (JSON.parse(text) as unknown);
};
