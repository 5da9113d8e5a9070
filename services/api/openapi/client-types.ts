import { openApiDocument } from './document.ts';

/** Writes the types of the document as TypeScript, in the form that `openapi-fetch` takes. */

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
  readonly format?: string;
};
type Content = {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
};
type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
};
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
};
type Components = {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, Content>>;
};
export type ApiDocument = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Components;
};

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

const indent = (text: string): string => text.replaceAll(/\n(?=.)/g, '\n  ');

const commentOf = (description: string | undefined): string => {
  const text = (description ?? '').replaceAll('*/', '*\\/').trim();
  if (text === '') return '';
  return text.includes('\n')
    ? `/**\n * ${text.replaceAll('\n', '\n * ').replaceAll(/ +$/gm, '')}\n */\n`
    : `/** ${text} */\n`;
};

type Member = readonly [
  name: string,
  type: string,
  options?: { readonly optional?: boolean; readonly description?: string | undefined },
];

const objectOf = (members: readonly Member[]): string => {
  if (members.length === 0) return 'Record<string, never>';
  const lines = members.map(([name, type, { optional = false, description } = {}]) => {
    const key = /^(?:[A-Za-z_$][\w$]*|[1-5]\d\d)$/.test(name) ? name : JSON.stringify(name);
    return `\n${commentOf(description)}${key}${optional ? '?' : ''}: ${type};`;
  });
  return `{${indent(lines.join(''))}\n}`;
};

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

const objectType = ({ properties, required = [], additionalProperties }: Schema): string => {
  if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties)}>`;
  return objectOf(
    Object.entries(properties ?? {}).map(([name, schema]) => [
      name,
      typeOf(schema),
      { optional: !required.includes(name), description: schema.description },
    ]),
  );
};

/** Throws for a keyword that no schema of ours has yet. */
const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return `components["schemas"]["${nameIn(schema.$ref)}"]`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return unionOf(options.map(typeOf));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map((one) => JSON.stringify(one)));
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeOf({ ...schema, type })));
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {})}>`;
  if (schema.type === 'object') return objectType(schema);
  if (schema.type === undefined) return 'unknown';
  const primitive = PRIMITIVES[String(schema.type)];
  if (primitive === undefined) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return primitive;
};

const contentType = ({ content = {} }: Content): string =>
  objectOf([
    ['content', objectOf(Object.entries(content).map(([type, { schema }]) => [type, typeOf(schema)]))],
  ]);

const parametersType = (operation: Operation, components: Components): string => {
  const all = operation.parameters.flatMap((one) => {
    const found = '$ref' in one ? components.parameters[nameIn(one.$ref)] : one;
    return found ? [found] : [];
  });
  const groups = (['path', 'query', 'header'] as const).map((place): Member => {
    const those = all.filter((one) => one.in === place);
    const members = those.map(
      ({ name, required, schema, description }): Member => [
        name,
        typeOf(schema),
        { optional: !required, description },
      ],
    );
    const optional = those.every(({ required }) => !required);
    return [place, those.length === 0 ? 'never' : objectOf(members), { optional }];
  });
  return objectOf(groups);
};

const operationType = (operation: Operation, components: Components): string =>
  objectOf([
    ['parameters', parametersType(operation, components)],
    ...(operation.requestBody ? ([['requestBody', contentType(operation.requestBody)]] as const) : []),
    [
      'responses',
      objectOf(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          response.$ref === undefined
            ? contentType(response)
            : `components["responses"]["${nameIn(response.$ref)}"]`,
        ]),
      ),
    ],
  ]);

const pagedPaths = (paths: ApiDocument['paths']): readonly string[] =>
  Object.entries(paths)
    .filter(([, { get }]) => get?.parameters.some((one) => 'name' in one && one.name === 'cursor'))
    .map(([path]) => `\n  | ${JSON.stringify(path)}`);

/** `openApiDocument` types its parts as unknown. */
export const publishedDocument = (baseUrl?: string): ApiDocument =>
  openApiDocument(baseUrl) as unknown as ApiDocument;

export const clientTypes = ({ paths, webhooks, components }: ApiDocument = publishedDocument()): string => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const methodsOf = (methods: Readonly<Record<string, Operation>>): string =>
    objectOf(
      Object.entries(methods).map(([method, { operationId, summary, description }]) => [
        method,
        `operations["${operationId}"]`,
        { description: `${summary}. ${description}` },
      ]),
    );
  const interfaces = {
    paths: objectOf(Object.entries(paths).map(([path, methods]) => [path, methodsOf(methods)])),
    operations: objectOf(
      operations.map((operation) => [operation.operationId, operationType(operation, components)]),
    ),
    webhooks: objectOf(
      Object.entries(webhooks).map(([name, { post }]) => [name, contentType(post.requestBody ?? {})]),
    ),
    components: objectOf([
      [
        'schemas',
        objectOf(
          Object.entries(components.schemas).map(([name, schema]) => [
            name,
            typeOf(schema),
            { description: schema.description },
          ]),
        ),
      ],
      [
        'responses',
        objectOf(Object.entries(components.responses).map(([name, one]) => [name, contentType(one)])),
      ],
    ]),
  };
  const header = '/** Types of `contracts/openapi.json`, written by `npm run openapi`. */\n';
  return `${header}${Object.entries(interfaces)
    .map(([name, type]) => `\nexport interface ${name} ${type}\n`)
    .join('')}\n/** Lists that have pages. */\nexport type PagedPath =${pagedPaths(paths).join('')};\n`;
};
