import { createHmac } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signatureHeaders, webhookKeysOf } from '#platform/channels/webhook.ts';
import { type SignedRequest, VERIFIERS } from './documented-verifiers.ts';

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const CASE_LIMIT_MS = 120_000;
const TEXT = '{"title":"Größe 40 – 20 % günstiger\\n","n":[1,2]}\n';
const BODY = Buffer.from(TEXT);
const nowS = Math.floor(Date.now() / 1_000);
const NOW = String(nowS);

const sentAt = (seconds: number, body: Buffer = BODY): SignedRequest => {
  const [, timestamp = '', , signature = ''] = signatureHeaders(
    'b0f3',
    new Date(seconds * 1_000),
    body,
    webhookKeysOf(SECRET),
  );
  return { timestamp, signature, body };
};
const genuine = sentAt(nowS);
const right = genuine.signature ?? '';

/** Request of which only form or age of the timestamp is wrong. */
const signedAs = (timestamp: string, body: Buffer = BODY, secret = SECRET): SignedRequest => ({
  timestamp,
  signature: `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`,
  body,
});

/** Texts that shells, parsers, encoders or patterns may take for something else. */
const HOSTILE: readonly string[] = [
  '',
  ' ',
  '-',
  '--',
  '-n',
  '-e',
  '!',
  '(',
  '*',
  '?*',
  '[0-9]*',
  '~',
  'a[0]',
  'a[$(touch ran)]',
  'RANDOM[$(touch ran)0]',
  'SECRET',
  'x=1',
  `${NOW}+a[\`touch ran\`]`,
  '$(touch ran)',
  '`touch ran`',
  '${SECRET:=x}',
  '; touch ran',
  '| touch ran',
  '&& touch ran',
  '> ran',
  '%s%n%n',
  '\\060',
  "'",
  '"',
  '\n',
  '\u0000',
  '\uFEFF',
  '\ud800',
  '☃',
  'É',
  'None',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '__proto__',
  '08',
  '0',
  '-1',
  '0x10',
  '1e9',
  '9'.repeat(40),
  'a'.repeat(100_000),
  '1'.repeat(1_000_000),
];

const digitsFrom = (zero: number): string =>
  Array.from(NOW, (digit) => String.fromCodePoint(zero + Number(digit))).join('');

/** Other spellings of the present second, each signed with the right key. */
const OTHER_TIMESTAMPS: readonly string[] = [
  ...HOSTILE,
  ...[0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce].map(digitsFrom),
  `${NOW.slice(0, -1)}²`,
  `0${NOW}`,
  `000${NOW}`,
  `+${NOW}`,
  `-${NOW}`,
  `${NOW}.0`,
  `${NOW}.5`,
  `${NOW}e0`,
  `0x${nowS.toString(16)}`,
  `0o${nowS.toString(8)}`,
  `0${nowS.toString(8)}`,
  `10#${NOW}`,
  `${NOW}n`,
  `${NOW.slice(0, 4)}_${NOW.slice(4)}`,
  ` ${NOW}`,
  `${NOW} `,
  `${NOW}\n`,
  `\t${NOW}`,
  `${NOW}\u0000`,
  `\u00A0${NOW}`,
  `${NOW},${NOW}`,
  `${NOW}, ${NOW}`,
  `${NOW}\n${NOW}`,
  `${NOW}000`,
  new Date(nowS * 1_000).toISOString(),
];

const OTHER_SIGNATURES: readonly string[] = [
  ...HOSTILE,
  'v1=',
  right.slice('v1='.length),
  right.toUpperCase(),
  `v1=${right.slice('v1='.length).toUpperCase()}`,
  right.slice(0, -1),
  right.slice(0, -2),
  `${right}0`,
  `${right} `,
  ` ${right}`,
  `${right}\n`,
  `${right}\u0000`,
  `${right}é`,
  right.replace('v1=', 'v0='),
  right.replace('v1=', 'v1,'),
  right.replace('=', '＝'),
  `${right}, ${right}`,
  `v1=${'0'.repeat(64)} ${right}`,
  `${right},v1=${'0'.repeat(64)}`,
  Buffer.from(right.slice('v1='.length), 'hex').toString('base64'),
];

const OTHER_BODIES: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  cut: BODY.subarray(0, -1),
  longer: Buffer.concat([BODY, Buffer.from(' ')]),
  'with NUL': Buffer.concat([BODY, Buffer.alloc(1)]),
  'with CRLF': Buffer.from(TEXT.replaceAll('\n', '\r\n')),
  'with BOM': Buffer.from(`\uFEFF${TEXT}`),
  'in UTF-16': Buffer.from(TEXT, 'utf16le'),
  'in Latin-1': Buffer.from(TEXT, 'latin1'),
  decomposed: Buffer.from(TEXT.normalize('NFD')),
  'written again': Buffer.from(JSON.stringify(JSON.parse(TEXT), null, 1)),
  compressed: gzipSync(BODY),
  random: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
};

const FORGED: readonly SignedRequest[] = [
  ...OTHER_TIMESTAMPS.flatMap((timestamp) => [signedAs(timestamp), { ...genuine, timestamp }]),
  ...[-86_400, -301, 1_000, 86_400].map((age) => sentAt(nowS + age)),
  ...OTHER_SIGNATURES.map((signature) => ({ ...genuine, signature })),
  ...Object.values(OTHER_BODIES).map((body) => ({ ...genuine, body })),
  { ...genuine, timestamp: null },
  { ...genuine, signature: null },
  { ...genuine, timestamp: null, signature: null },
  { ...genuine, timestamp: right, signature: NOW },
  signedAs(NOW, BODY, 'whsec_b3RoZXI='),
  signedAs(NOW, BODY, ''),
  signedAs(NOW, BODY, Buffer.from(SECRET.slice('whsec_'.length), 'base64').toString('latin1')),
  // Without the dot, a digit could move from the timestamp to the body.
  { timestamp: NOW.slice(0, -1), signature: right, body: Buffer.concat([Buffer.from(NOW.slice(-1)), BODY]) },
];

const RANDOM: readonly SignedRequest[] = fc
  .sample(
    fc.string({
      unit: fc
        .constantFrom('binary', 'grapheme', 'binary-ascii')
        .chain((unit) => fc.string({ unit, minLength: 1, maxLength: 4 })),
      maxLength: 20,
    }),
    40,
  )
  .flatMap((text) => [signedAs(text), { ...genuine, signature: text }]);

/** Signed when they are sent: a slow machine may come to them minutes after it has read this file. */
const genuineRequests = (): readonly SignedRequest[] => {
  const sentS = Math.floor(Date.now() / 1_000);
  return [
    ...[-200, 0, 200].map((age) => sentAt(sentS + age)),
    ...Object.values(OTHER_BODIES).map((body) => sentAt(sentS, body)),
    sentAt(sentS, Buffer.from('%s\\n$(touch ran)\n\n')),
    sentAt(sentS, Buffer.alloc(1_000_000, 'x')),
  ];
};

const shown = ({ timestamp, signature, body }: SignedRequest): string =>
  JSON.stringify([timestamp, signature, body.toString('latin1')].map((text) => text?.slice(0, 200)));

describe.each(VERIFIERS)('the $name verifier', { timeout: CASE_LIMIT_MS }, (verifier) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'verifiers-'));
    // A pattern would turn this name into the present second.
    await writeFile(join(folder, NOW), '');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const answersTo = async (requests: readonly SignedRequest[]) => {
    const taken = requests.filter((request) => verifier.takes(request));
    const answers = await verifier.verify(taken, SECRET, folder);
    return taken.map((request, index) => [shown(request), answers[index]] as const);
  };

  const title = verifier.isInstalled ? '' : ` (SKIPPED: ${verifier.name} with openssl is not installed)`;
  test.skipIf(!verifier.isInstalled)(`accepts genuine requests${title}`, async () => {
    const answers = await answersTo(genuineRequests());
    expect(answers.filter(([, answer]) => answer !== true)).toEqual([]);
  });

  test.skipIf(!verifier.isInstalled)(
    `answers false to forged requests, without an error or a command${title}`,
    async () => {
      const answers = await answersTo([...FORGED, ...RANDOM]);
      expect(answers.filter(([, answer]) => answer !== false)).toEqual([]);
      expect(await readdir(folder)).toEqual([NOW]);
    },
  );
});
