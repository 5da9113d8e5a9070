import type { Reporter, TestCase, TestModule } from 'vitest/node';

const WORDS = { passed: 'held', failed: 'BROKEN', skipped: 'skipped', pending: 'pending' } as const;
const WIDTH = 10;

/** Prints one line for each test: whether it held, its title and its figure. Figures with their bounds follow. */
export default class FiguresReporter implements Reporter {
  onTestCaseResult(testCase: TestCase): void {
    const result = testCase.result();
    const { figure, figures = [] } = testCase.meta();
    const reason = result.state === 'skipped' ? result.note : result.errors?.[0]?.message.split('\n', 1)[0];
    const text = figure ?? reason;
    console.log(
      `${WORDS[result.state].padEnd(WIDTH)} ${testCase.name}${text === undefined ? '' : `: ${text}`}`,
    );
    for (const one of figures)
      console.log(`${one.verdict.padStart(WIDTH)}   ${one.what}: figure ${one.figure}, bound ${one.bound}`);
  }

  onTestModuleEnd(testModule: TestModule): void {
    for (const { message } of testModule.errors())
      console.log(`${'BROKEN'.padEnd(WIDTH)} ${testModule.relativeModuleId}: ${message}`);
  }
}
