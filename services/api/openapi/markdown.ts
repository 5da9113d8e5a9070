import { type ApiDocument, nameIn, publishedDocument, type Schema } from './client-types.ts';
import { readGuide } from './guide.ts';

/** A page of Markdown: `path` below the base URL, the first heading, what it is about, and its text. */
export type MarkdownPage = {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  readonly text: string;
};

const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`;
  const types = [schema.type ?? 'any'].flat().join(' or ');
  return schema.format === undefined ? types : `${types} (${schema.format})`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

const row = (name: string, schema: Schema, isRequired: boolean, description = schema.description): string =>
  `| \`${name}\` | ${cell(typeOf(schema))} | ${isRequired ? 'yes' : 'no'} | ${cell(description ?? '')} |`;

const tableOf = (rows: readonly string[], first: string): readonly string[] =>
  rows.length === 0 ? [] : ['', `| ${first} | type | required | meaning |`, '|---|---|---|---|', ...rows];

const propertiesOf = ({ properties = {}, required = [] }: Schema): readonly string[] =>
  tableOf(
    Object.entries(properties).map(([name, schema]) => row(name, schema, required.includes(name))),
    'property',
  );

const json = (value: unknown): readonly string[] => ['', '```json', JSON.stringify(value, null, 2), '```'];

/** Names of the components that a schema reaches, itself among them. */
const reached = (
  schema: unknown,
  schemas: ApiDocument['components']['schemas'],
  found: Set<string>,
): void => {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reached(schemas[name], schemas, found);
  }
};

const referencePage = (tag: ApiDocument['tags'][number], document: ApiDocument): MarkdownPage => {
  const { schemas, parameters } = document.components;
  const used = new Set<string>();
  const lines = [`# ${tag.name}`, '', tag.description];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!operation.tags.includes(tag.name)) continue;
      const body = operation.requestBody?.content?.['application/json'];
      const reply = Object.values(operation.responses)[0]?.content?.['application/json'];
      for (const content of [body, reply]) reached(content?.schema ?? {}, schemas, used);
      lines.push(
        '',
        `## ${method.toUpperCase()} ${path}`,
        '',
        `${operation.summary} (\`${operation.operationId}\`). ${operation.description}`,
        ...tableOf(
          operation.parameters
            .flatMap((one) => ('$ref' in one ? (parameters[nameIn(one.$ref)] ?? []) : one))
            .map((one) => row(`${one.name}\` in \`${one.in}`, one.schema, one.required, one.description)),
          'parameter',
        ),
        ...(body === undefined ? [] : ['', 'Body:', ...json(body.example)]),
        ...(reply === undefined ? [] : ['', 'Reply:', ...json(reply.example)]),
      );
    }
  }
  lines.push('', '## Schemas');
  for (const name of [...used].toSorted()) {
    const schema = schemas[name] ?? {};
    lines.push('', `### ${name}`, '', schema.description ?? '', ...propertiesOf(schema));
  }
  const path = `/docs/reference/${tag.name.toLowerCase().replaceAll(' ', '-')}.md`;
  return { path, title: tag.name, about: tag.description, text: `${lines.join('\n')}\n` };
};

const guidePages = (): readonly MarkdownPage[] =>
  readGuide().map(({ name, title, text }) => ({ path: `/docs/guide/${name}.md`, title, about: '', text }));

const referencePages = (baseUrl: string): readonly MarkdownPage[] => {
  const document = publishedDocument(baseUrl);
  return document.tags.map((tag) => referencePage(tag, document));
};

/** The guide and the reference as Markdown, and `/llms.txt`, which lists them (https://llmstxt.org). */
export const markdownPages = (baseUrl: string): readonly MarkdownPage[] => {
  const list = (pages: readonly MarkdownPage[]): string =>
    pages
      .map(({ path, title, about }) => `- [${title}](${baseUrl}${path})${about === '' ? '' : `: ${about}`}`)
      .join('\n');
  const [guide, reference] = [guidePages(), referencePages(baseUrl)];
  const index = `# Ad-Intelligence REST Service

> Observed ads of one public ad library: what started, stopped and changed. No money figures; an ad not seen is not an ad stopped.

Base URL ${baseUrl}, bearer API keys, JSON. [OpenAPI 3.1](${baseUrl}/v1/openapi.json) has every schema.

## Guide

${list(guide)}

## Reference

${list(reference)}
`;
  return [...guide, ...reference, { path: '/llms.txt', title: 'Index', about: '', text: index }];
};
