import { expect, test } from 'vitest';
import type { MemberDirectory } from '#application/sign-in/member-directory.ts';
import { createSignInMail } from '#application/sign-in/codes.ts';
import { silentLog } from '#platform/logger.ts';

const ACCOUNT = { accountId: 'account', name: 'Ada', email: 'ada@shop.example', memberships: [] } as const;
const MAIL = { accountId: 'account', code: '12345678', attemptId: 'attempt' } as const;

/** Directory whose first `failures` answers fail, as while Postgres is away. */
const directoryFailing = (failures: number) => {
  let asked = 0;
  const find: MemberDirectory['find'] = () => {
    asked += 1;
    return asked > failures ? Promise.resolve(ACCOUNT) : Promise.reject(new Error('Query read timeout'));
  };
  return { directory: { has: () => Promise.resolve(true), find }, asked: () => asked };
};

const send = (directory: MemberDirectory) => {
  const sent: (readonly [string, string])[] = [];
  const channel = {
    sendMessage: (to: { readonly to: string }, { text }: { readonly text: string }) => {
      sent.push([to.to, text]);
      return Promise.resolve({ delivered: true } as const);
    },
  };
  const mail = createSignInMail(channel as never, directory, silentLog());
  mail.send(MAIL);
  return { mail, sent };
};

test('a code is sent though Postgres did not answer at first', async () => {
  const { directory, asked } = directoryFailing(1);
  const { mail, sent } = send(directory);
  await expect.poll(() => sent).toHaveLength(1);
  await mail[Symbol.asyncDispose]();
  expect(asked()).toBe(2);
  expect(sent).toEqual([['ada@shop.example', expect.stringContaining('1234 5678')]]);
});

test('a failed look-up is not repeated after the end of the process began', async () => {
  const { directory, asked } = directoryFailing(1);
  const { mail, sent } = send(directory);
  await mail[Symbol.asyncDispose]();
  expect([asked(), sent]).toEqual([1, []]);
});
