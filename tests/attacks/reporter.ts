import type { Reporter, TestCase, TestModule } from 'vitest/node';

const WORDS = { passed: 'held', failed: 'BROKEN', skipped: 'skipped', pending: 'pending' } as const;

/** Prints one line for each attack: whether it held, its title and its figure. */
export default class AttackReporter implements Reporter {
  onTestCaseResult(testCase: TestCase): void {
    const result = testCase.result();
    const reason = result.state === 'skipped' ? result.note : result.errors?.[0]?.message.split('\n', 1)[0];
    const figure = testCase.meta().figure ?? reason ?? '';
    console.log(`${WORDS[result.state].padEnd(8)} ${testCase.name}: ${figure}`);
  }

  onTestModuleEnd(testModule: TestModule): void {
    for (const { message } of testModule.errors())
      console.log(`BROKEN   ${testModule.relativeModuleId}: ${message}`);
  }
}
