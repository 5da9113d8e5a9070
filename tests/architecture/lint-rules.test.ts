import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Checks that each lint rule fires on a file that breaks it: otherwise it looks like a rule that is never broken. */
const ROOT = resolve(import.meta.dirname, '../..');
const LINT_LIMIT_MS = 60_000;

const VIOLATIONS: Readonly<Record<string, { readonly code: string; readonly rule: string }>> = {
  'contracts/imports-domain.ts': { code: "export * from '#domain/a.ts';", rule: 'no-restricted-imports' },
  'services/domain/imports-platform.ts': {
    code: "export * from '#platform/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/domain/reads-files.ts': { code: "export * from 'node:fs';", rule: 'no-restricted-imports' },
  'projections/a/imports-domain.ts': { code: "export * from '#domain/a.ts';", rule: 'no-restricted-imports' },
  'services/platform/imports-a-projection.ts': {
    code: "export * from '#projections/a/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/platform/imports-the-domain.ts': {
    code: "export * from '#domain/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/application/imports-an-operation.ts': {
    code: "export * from '#operations/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/operations/imports-a-process.ts': {
    code: "export * from '#services/api/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/projector/imports-an-operation.ts': {
    code: "export * from '#operations/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/api/imports-ops.ts': {
    code: "export * from '#services/ops/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/api-cli/imports-an-operation.ts': {
    code: "export * from '#operations/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/worker/imports-api.ts': {
    code: "export * from '#services/api/a.ts';",
    rule: 'no-restricted-imports',
  },
  'deploy/local/imports-a-process.ts': {
    code: "export * from '#services/api/a.ts';",
    rule: 'no-restricted-imports',
  },
  'services/api/reads-environment.ts': {
    code: "export const home = process.env['HOME'];",
    rule: 'no-process-env',
  },
  'services/api/floats.ts': {
    code: 'const work = async (): Promise<void> => {};\nexport const start = (): void => {\n  work();\n};',
    rule: 'no-floating-promises',
  },
  'services/ops/cycle-a.ts': {
    code: "import { b } from './cycle-b.ts';\nexport const a = () => b;",
    rule: 'no-cycle',
  },
  'services/ops/cycle-b.ts': {
    code: "import { a } from '#services/ops/cycle-a.ts';\nexport const b = () => a;",
    rule: 'no-cycle',
  },
};
const ALLOWED: Readonly<Record<string, string>> = {
  'services/domain/hashes.ts': "export { createHash } from 'node:crypto';",
  'services/platform/settings.ts': "export const home = process.env['HOME'];",
  'deploy/write-settings.ts': "export * from '#services/api/settings.ts';",
  'services/api/imports-platform.ts': "export { home } from '#platform/settings.ts';",
};

let folder: string;
let findings: readonly { readonly filename: string; readonly code: string }[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lint-rules-'));
  for (const name of ['.config/oxlint.json', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const sources = Object.entries(VIOLATIONS).map(([file, { code }]) => [file, code] as const);
  for (const [file, code] of [...sources, ...Object.entries(ALLOWED)]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${code}\n`);
  }
  const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const options = ['--config=.config/oxlint.json', '--type-aware', '--format=json'];
  const folders = ['contracts', 'services', 'projections', 'deploy'];
  const lint = spawnSync(process.execPath, [oxlint, ...options, ...folders], {
    cwd: folder,
    encoding: 'utf8',
  });
  findings = JSON.parse(lint.stdout).diagnostics;
}, LINT_LIMIT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.entries(VIOLATIONS))('the linter rejects %s', (file, { rule }) => {
  expect(findings.filter((finding) => finding.filename === file).map(({ code }) => code)).toContainEqual(
    expect.stringContaining(`(${rule})`),
  );
});

test.each(Object.keys(ALLOWED))('the linter accepts %s', (file) => {
  expect(findings.filter((finding) => finding.filename === file)).toEqual([]);
});
