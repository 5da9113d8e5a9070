import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AcceptedAdvisories, judgeAudit } from '#deploy/dependencies/audit.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

type Locked = {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
};
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };
const { allowScripts, dependencies } = JSON.parse(read('package.json')) as {
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('the lock file', () => {
  test('has a hash for each package, and none from outside the registry', () => {
    const strange = packages.filter(
      ([, { resolved = 'https://registry.npmjs.org/', integrity, link }]) =>
        !integrity?.startsWith('sha512-') || link || !resolved.startsWith('https://registry.npmjs.org/'),
    );
    expect(packages.length).toBeGreaterThan(100);
    expect(strange.map(([path]) => path)).toEqual([]);
  });

  test('has install scripts only of packages on which `allowScripts` decides', () => {
    const names = new Set(packages.flatMap(([path, one]) => (one.hasInstallScript ? [nameOf(path)] : [])));
    expect([...names].filter((name) => allowScripts[name] === undefined)).toEqual([]);
    expect(Object.keys(allowScripts).filter((name) => !names.has(name))).toEqual([]);
  });

  test('becomes a bill of materials that names each direct dependency with its version', () => {
    const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    const { components } = JSON.parse(text) as { components: { name: string; version: string }[] };
    const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
    expect(components.filter(({ name }) => name === 'vitest')).toEqual([]);
    const missing = Object.entries(dependencies).filter(
      ([name, version]) => !named.has(`${name}@${version}`),
    );
    expect(missing).toEqual([]);
  }, 60_000);
});

describe('advisories', () => {
  const id = 'GHSA-aaaa-bbbb-cccc';
  const advisory = {
    name: 'left',
    title: 'Reads too far',
    url: `https://github.com/advisories/${id}`,
    severity: 'high',
    range: '<2',
  };
  const report = {
    auditReportVersion: 2,
    vulnerabilities: { left: { via: [advisory] }, right: { via: ['left'] } },
  };
  const entry = { id, package: 'left', reason: 'The function is never called here.', until: '2027-01-31' };

  test.each([
    ['that are not accepted are faults', report, [], '2026-11-23', [/high: left <2: Reads too far/]],
    ['that are accepted are none', report, [entry], '2027-01-31', []],
    [
      'that were accepted until a day that has passed are faults',
      report,
      [entry],
      '2027-02-01',
      [/until 2027-01-31/],
    ],
    [
      'that are not found any more must not stay accepted',
      { ...report, vulnerabilities: {} },
      [entry],
      '2026-11-23',
      [/Remove/],
    ],
  ])('%s', (_name, found, accepted, today, faults) => {
    expect(judgeAudit(found, accepted, today)).toEqual(
      faults.map((fault) => expect.stringMatching(fault) as string),
    );
  });

  test('that are accepted have a reason and an end', () => {
    expect(
      AcceptedAdvisories.safeParse(JSON.parse(read('deploy/dependencies/accepted-advisories.json'))).error,
    ).toBeUndefined();
    expect(AcceptedAdvisories.safeParse([{ ...entry, reason: 'Fine.' }]).success).toBe(false);
  });
});
