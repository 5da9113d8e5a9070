import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { planFile } from '#services/ingest/files/file-plan.ts';
import { FORMATS } from '#services/ingest/readers/formats.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';
import { ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { workbook } from '../fixtures/workbook.ts';

const INGEST = resolve(import.meta.dirname, '../../../services/ingest');
const MANUAL = readFileSync(join(INGEST, 'FORMATS.md'), 'utf8');

/** Block of the manual. `name`: file name in its first line. `above`: text above it. */
type Block = {
  readonly syntax: string;
  readonly name: string;
  readonly content: string;
  readonly above: string;
};

const blocks: readonly Block[] = [...MANUAL.matchAll(/([^]*?)^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm)].map(
  ([, above = '', syntax = '', name = '', content = '']) => ({ above, syntax, name, content }),
);

type Example = {
  /** Heading: the format, or the kind of file. */
  readonly title: string;
  readonly file: Block;
  readonly mapping: Block | null;
  /** Shipped mapping that the text names. */
  readonly shipped: string | null;
};

const examples: readonly Example[] = blocks.flatMap((file, at) => {
  if (file.name === 'mapping.json') return [];
  const before = blocks[at - 1];
  const mapping = before?.name === 'mapping.json' ? before : null;
  const text = mapping === null ? file.above : mapping.above;
  const title = [...text.matchAll(/^### `?([^`\n]+)`?$/gm)].at(-1)?.[1] ?? '';
  const shipped = /`(mappings\/[\w-]+\.json)`/.exec(text)?.[1] ?? null;
  return [{ title, file, mapping, shipped }];
});

const FORMAT_OF_KIND: { readonly [title: string]: string } = {
  'JSON lines': 'web-graphql',
  'Replies of APIs': 'web-graphql',
  'Shop scripts': 'storefront-json',
  'Store API': 'storefront-json',
  'Spreadsheets (XLSX)': 'ads-archive-csv',
  'Saved pages (HTML)': 'web-graphql',
  'Page scans of competitors': 'mapped-csv',
};

const bytesOf = ({ name, content }: Block): string | Buffer =>
  name.endsWith('.xlsx') ? workbook(parse(content, { relaxColumnCount: true })) : content;

const EXTENSIONS: { readonly [syntax: string]: string } = { text: 'txt' };

const readExample = async ({ file, mapping, shipped }: Example) => {
  await using folder = await ExportFolder.open();
  const path = await folder.file(
    file.name === '' ? `example.${EXTENSIONS[file.syntax] ?? file.syntax}` : file.name,
    bytesOf(file),
  );
  const mappingPath =
    mapping === null ? shipped && join(INGEST, shipped) : await folder.file(mapping.name, mapping.content);
  const options = {
    ...OF_BRAND,
    ...(mappingPath === null ? {} : { mapping: await loadMapping(mappingPath) }),
  };
  const plan = await planFile(path, options);
  return { ...(await reading(path, options)), format: 'format' in plan ? plan.format : plan.what };
};

describe('the examples of the manual', () => {
  test.each(examples.map((example) => [example.title, example] as const))(
    '%s is read',
    async (title, example) => {
      const { format, refused, observations, ads } = await readExample(example);
      expect(format).toBe(FORMAT_OF_KIND[title] ?? title);
      expect(refused).toEqual([]);
      expect(observations.length).toBeGreaterThan(0);
      if (observations.some(({ type }) => type === 'ad_library.scan')) {
        expect(ads[0]).toMatchObject({ ad_id: '7100000000000014', page_id: '400000000000011' });
        expect(ads[0]?.body).toMatch(/^(Warm feet|Soft & warm)$/);
      }
    },
  );

  test('cover every format and every kind of file', () => {
    const titles = examples.map(({ title }) => title);
    expect(titles.toSorted()).toEqual([...FORMATS, ...Object.keys(FORMAT_OF_KIND)].toSorted());
    expect(blocks).toHaveLength((MANUAL.match(/^```\w/gm) ?? []).length);
  });

  test('of page scans has the texts without page elements', async () => {
    const example = examples.find(({ title }) => title === 'Page scans of competitors');
    expect(example).toBeDefined();
    const { ads } = await readExample(example as Example);
    expect(ads).toMatchObject([
      {
        body: 'Warm feet',
        link_description: 'Socks for all',
        cta_text: 'Install now',
        caption: 'shop.example',
      },
    ]);
  });

  test.each(['web-graphql', 'ads-archive-json', 'mapped-json'])(
    'of %s is refused when its content has another name',
    async (title) => {
      const example = examples.find((one) => one.title === title) as Example;
      const content = example.file.content.replaceAll(/"(snapshot|ad_[a-z]+_[a-z_]+|creative)"/g, '"x_$1"');
      const { ads, refused } = await readExample({ ...example, file: { ...example.file, content } });
      expect(ads).toEqual([]);
      expect(refused.map(({ what }) => what).join()).toMatch(/unknown (shape|format)/);
    },
  );
});
