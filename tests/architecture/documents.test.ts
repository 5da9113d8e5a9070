import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { loadCommands } from '#platform/command-line.ts';
import { createProgram as createApiProgram } from '#services/api-cli/program.ts';
import { COMMANDS, createProgram } from '#services/ops/cli/program.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { type Document, readDocuments, wordsOf } from '../stack/documents.ts';

/** Limit of a test that starts a process: on a busy machine a start takes several seconds. */
const START_TIMEOUT_MS = 60_000;

const ROOT = resolve(import.meta.dirname, '../..');

const documents = readDocuments();

const proseOf = ({ text }: Document): string => text.replace(/^ *```[^]*?^ *```$/gm, '');

/** Anchor of a heading, as on GitHub. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/[`*]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

const findingsOf = (find: (document: Document) => readonly string[]): readonly string[] =>
  documents.flatMap((document) => find(document).map((finding) => `${document.path}: ${finding}`));

test('every relative link leads to a file, and every anchor to a heading', () => {
  const links = (document: Document): readonly string[] =>
    [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target));
  const broken = findingsOf((document) =>
    links(document).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(ROOT, document.path) : join(ROOT, dirname(document.path), path);
      return !existsSync(file) || (anchor !== undefined && !anchorsIn(file).includes(anchor));
    }),
  );
  expect(broken).toEqual([]);
  expect(documents.flatMap(links).length).toBeGreaterThan(20);
});

test('no document has the marks of a merge', () => {
  expect(findingsOf(({ text }) => text.match(/^(?:<{7}|>{7}) .*$/gm) ?? [])).toEqual([]);
});

test('every document is linked from another one', () => {
  const linked = new Set(
    documents.flatMap((document) =>
      [...proseOf(document).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) =>
        join(dirname(document.path), target),
      ),
    ),
  );
  // Documents that need no link: a README is shown with its folder, and the repository host uses the template.
  const foundOtherwise = /(^|\/)README\.md$|pull_request_template\.md$/;
  const unlinked = documents.map(({ path }) => path).filter((path) => !linked.has(path));
  expect(unlinked.filter((path) => !foundOtherwise.test(path))).toEqual([]);
});

const paths = globSync(['**', '.*/**'], {
  cwd: ROOT,
  exclude: (name) => /^(node_modules|\.git|\.data|\.cache)$/.test(name),
}).map((path) => `/${path}`);
const pathSet = new Set(
  paths.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(index + 1))),
);

const PATH =
  /^(?:[\w@.-]+\/)*[\w@.-]+\.(?:ts|sql|md|json|ya?ml|mjs|html|css)$|^(?:[\w@.-]+\/)+$|^(?:services|contracts|projections|deploy|tests)\/[\w@./-]+$/;
/** Paths outside of the repository, each with its reason. */
const PATHS_ELSEWHERE: readonly { readonly path: RegExp; readonly reason: string }[] = [
  { path: /^\.(data|cache)\//, reason: 'written by `npm start`' },
  {
    path: /^(local|secrets|demo|receiver|collector)\.json$|^(logs|objects|mail|run)\/$/,
    reason: 'in the folder `.data`',
  },
  { path: /^(people|manifest)\.json$/, reason: 'part of an audit export' },
  { path: /^projections\/(lag|diff)$/, reason: 'path of the operator HTTP interface' },
  { path: /^\.integration\.test\.ts$/, reason: 'the end of a file name' },
];

test('every path in backticks exists', () => {
  const missing = findingsOf((document) =>
    [...proseOf(document).matchAll(/`([^`\n]+)`/g)]
      .map(([, code = '']) => code)
      .filter((code) => PATH.test(code) && !PATHS_ELSEWHERE.some(({ path }) => path.test(code)))
      .filter((code) => !pathSet.has(code.replace(/^\.\//, '').replace(/\/$/, ''))),
  );
  expect(missing).toEqual([]);
});

const commandsOf = (document: Document, name: string): readonly (readonly string[])[] =>
  [...document.text.matchAll(new RegExp(`npm run (?:--silent )?${name} -- ([^\`\n]*)`, 'g'))]
    .map(([, rest = '']) => wordsOf(rest))
    .filter((words) => words.length > 0 && !words.every((word) => /^(COMMAND|FILE…|…)$/.test(word)));

test('every npm script that a document names exists', () => {
  const scripts = new Set(Object.keys(packageJson.scripts));
  const unknown = findingsOf(({ text }) =>
    [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)]
      .map(([, script = '']) => script)
      .filter((script) => !scripts.has(script)),
  );
  expect(unknown).toEqual([]);
});

describe('command lines in documents', async () => {
  const commands = await loadCommands(COMMANDS, []);
  /** Disarms commands: parsing must have no effect, and throws instead of exiting. */
  const disarm = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    // A group with options of its own runs without a subcommand, too.
    if (command.commands.length === 0 || (command.parent !== null && command.options.length > 0))
      command.action(() => undefined);
    for (const child of command.commands) disarm(child);
  };

  const faultOf = (words: readonly string[], program = createProgram(commands)): string | null => {
    disarm(program);
    try {
      program.parse(words, { from: 'user' });
      return null;
    } catch (error) {
      const { code = '', message } = error as Error & { readonly code?: string };
      return code === 'commander.helpDisplayed' ? null : `${words.join(' ')}: ${message}`;
    }
  };

  test('of ops are accepted by its program', () => {
    const refused = findingsOf((document) =>
      commandsOf(document, 'ops')
        .map((words) => faultOf(words))
        .filter((fault) => fault !== null),
    );
    expect(refused).toEqual([]);
    expect(documents.flatMap((document) => commandsOf(document, 'ops')).length).toBeGreaterThan(30);
  });

  test('of api are accepted by its program', () => {
    const faultsOf = (document: Document) =>
      commandsOf(document, 'api').flatMap((words) => faultOf(words, createApiProgram()) ?? []);
    expect(findingsOf(faultsOf)).toEqual([]);
    expect(documents.flatMap((document) => commandsOf(document, 'api')).length).toBeGreaterThan(5);
  });

  test('of ops with a wrong option or a missing argument are found', () => {
    expect(faultOf(['projections', 'status', '--everything'])).toContain('--everything');
    expect(faultOf(['member', 'erase', 'WORKSPACE'])).toContain('member');
    expect(faultOf(['projection', 'status'])).toContain('projection');
  });

  test('of ingest use existing options', { timeout: START_TIMEOUT_MS }, () => {
    const { stdout } = spawnSync(process.execPath, [join(ROOT, 'services/ingest/cli.ts'), '--help'], {
      encoding: 'utf8',
    });
    const options = new Set(['--help', ...(stdout.match(/--[a-z-]+/g) ?? [])]);
    expect(options.size).toBeGreaterThan(5);
    const unknown = findingsOf((document) =>
      commandsOf(document, 'ingest')
        .flat()
        .filter((word) => word.startsWith('--') && !options.has(word)),
    );
    expect(unknown).toEqual([]);
  });
});
