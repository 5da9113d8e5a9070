import { readFileSync } from 'node:fs';

export type GuidePage = { readonly name: string; readonly title: string; readonly text: string };

const readPage = (name: string): GuidePage => {
  const text = readFileSync(new URL(`../../../contracts/guide/${name}.md`, import.meta.url), 'utf8');
  return { name, text, title: /^# (.+)$/m.exec(text)?.[1] ?? name };
};

const NAMES = [
  'first-call',
  'figures',
  'history',
  'lists',
  'writes',
  'alerts',
  'webhooks',
  'client',
  'test-keys',
];

/** Reads the pages of `contracts/guide/`, in reading order. */
export const readGuide = (): readonly GuidePage[] => NAMES.map(readPage);

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

/** The guide as one text for the reference page: links between its pages lead to the headings of that page. */
export const guideInReference = (): string => {
  const guide = readGuide();
  const titles = new Map(guide.map(({ name, title }) => [name, title]));
  return guide
    .map(({ text }) => text)
    .join('\n\n')
    .replaceAll(
      /\]\(([a-z-]+)\.md(?:#([a-z-]+))?\)/g,
      (_, name: string, anchor: string | undefined) =>
        `](#description/${anchor ?? anchorOf(titles.get(name) ?? name)})`,
    );
};
