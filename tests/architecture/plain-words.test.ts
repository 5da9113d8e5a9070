import { expect, test } from 'vitest';
import { lintWords } from './plain-words.ts';

const BUDGET = 0;

test('comments and test titles are plain sentences', () => {
  const findings = lintWords();
  const shown = findings
    .slice(0, 20)
    .map(({ file, line, rule, text }) => `${file}:${line}: ${rule}: ${text}`);
  expect(findings.length, shown.join('\n')).toBeLessThanOrEqual(BUDGET);
});
