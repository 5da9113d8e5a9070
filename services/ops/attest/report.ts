import { escape } from 'es-toolkit/string/escape';
import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { terminalText } from '#platform/process/terminal-output.ts';
import {
  publicKeyId,
  publicKeyText,
  readPublicKey,
  type SigningKey,
} from '#application/audit/signing-key.ts';
import { type Attestation, WORDS } from './attest.ts';

/**
 * An attestation as a page. It has the result as JSON, and everything that it shows follows from that, so that an altered
 * page is found by writing it again. The signature covers a hash of each part: a part that was altered has a name.
 */

const Word = z.enum(Object.keys(WORDS) as [keyof typeof WORDS]);

const Result: z.ZodType<Attestation> = z.strictObject({
  word: Word,
  attested_at: z.string(),
  is_replayed: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      word: Word,
      checked: z.string(),
      findings: z.array(z.strictObject({ word: Word.exclude(['whole']), reason: z.string() })),
    }),
  ),
  histories: z.array(
    z.strictObject({ workspace_id: z.string(), name: z.string(), entries: z.int(), head_hash: z.string() }),
  ),
});

const Document = z.strictObject({
  format: z.literal('ad-intelligence-attestation'),
  version: z.literal(1),
  /** SHA-256 of the canonical text of each part. */
  parts: z.record(z.string(), z.string()),
  public_key_id: z.string(),
  public_key: z.base64(),
  /** Ed25519 over the canonical text of the fields above. */
  signature: z.base64(),
  result: Result,
});
type Document = z.infer<typeof Document>;

/** Each check is a part, and so is each other field of the result. */
const partsOf = ({ checks, ...fields }: Attestation): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      ...Object.entries(fields),
      ['names of checks', checks.map(({ name }) => name)] as const,
      ...checks.map((check) => [`check ${check.name}`, check] as const),
    ].map(([name, part]) => [name, hash('sha256', canonicalJson(part), 'hex')]),
  );

const signedText = ({ result: _result, signature: _signature, ...signed }: Document): string =>
  canonicalJson(signed);

/** Shows control and direction characters by their codes, since a name could make a line say something else. */
const escaped = (value: unknown): string => escape(terminalText(String(value)));

const cells = (tag: 'th' | 'td', values: readonly unknown[]): string =>
  `<tr>${values.map((value) => `<${tag}>${escaped(value)}</${tag}>`).join('')}</tr>`;

const table = (columns: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] => [
  '<table>',
  cells('th', columns),
  ...rows.map((row) => cells('td', row)),
  '</table>',
];

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}th,td{border:1px solid #767676;padding:.3rem .5rem;text-align:left;overflow-wrap:anywhere;vertical-align:top}';

/** In a script element, only `<` could end it. */
const embedded = (document: Document): string => JSON.stringify(document).replaceAll('<', String.raw`\u003c`);

const START = '<script type="application/json" id="attestation">';
const END = '</script>';

const pageOf = (document: Document): string => {
  const { result } = document;
  const about = `Attested at ${result.attested_at}. Read models were ${result.is_replayed ? '' : 'not '}compared with a replay of the log.`;
  const key = `Signed with the key ${document.public_key_id}. Check this file: npm run ops -- attest verify FILE --public-key KEY`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>Attestation: ${escaped(result.word)}</title>`,
    `<style>${STYLE}</style>`,
    `<h1>${escaped(result.word)}</h1>`,
    `<p>${escaped(WORDS[result.word].meaning)}.</p>`,
    `<p>${escaped(about)}</p>`,
    '<h2>Checks</h2>',
    ...table(
      ['check', 'result', 'checked', 'reasons'],
      result.checks.map(({ name, word, checked, findings }) => [
        name,
        word,
        checked,
        findings.map((one) => `${one.word}: ${one.reason}`).join('; '),
      ]),
    ),
    '<h2>Whole histories</h2>',
    ...table(
      ['workspace', 'name', 'entries', 'head hash'],
      result.histories.map((one) => [one.workspace_id, one.name, one.entries, one.head_hash]),
    ),
    `<p>${escaped(key)}</p>`,
    `${START}${embedded(document)}${END}`,
    '</html>',
    '',
  ].join('\n');
};

export const writeReport = (result: Attestation, { privateKey, publicKey }: SigningKey): string => {
  const unsigned: Document = {
    format: 'ad-intelligence-attestation',
    version: 1,
    parts: partsOf(result),
    public_key_id: publicKeyId(publicKey),
    public_key: publicKeyText(publicKey),
    signature: '',
    result,
  };
  const signature = sign(null, Buffer.from(signedText(unsigned), 'utf8'), privateKey).toString('base64');
  return pageOf({ ...unsigned, signature });
};

export type ReportVerdict = {
  readonly word: string | null;
  readonly attested_at: string | null;
  readonly public_key_id: string | null;
  /** True when the signature was checked with the caller's key. */
  readonly key_compared: boolean;
  readonly faults: readonly string[];
};

const readDocument = (page: string): Document | string => {
  const from = page.indexOf(START);
  const to = page.indexOf(END, from);
  if (from === -1 || to === -1) return 'the JSON of the result is missing';
  try {
    const read = Document.safeParse(JSON.parse(page.slice(from + START.length, to)));
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    return `the JSON of the result was altered: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  } catch {
    return 'the JSON of the result was altered: it is not valid JSON';
  }
};

const signatureFaults = (document: Document, held: KeyObject | null): readonly string[] => {
  let own: KeyObject;
  try {
    own = readPublicKey(document.public_key);
  } catch {
    return ['the public key was altered'];
  }
  const id = publicKeyId(own);
  if (held && publicKeyId(held) !== id)
    return [`the report is signed with key ${id}, not with your key ${publicKeyId(held)}`];
  if (id !== document.public_key_id) return ['the id of the public key was altered'];
  const signed = Buffer.from(signedText(document), 'utf8');
  return verify(null, signed, own, Buffer.from(document.signature, 'base64'))
    ? []
    : ['the signature, or the hashes that it covers, were altered'];
};

const partFaults = ({ result, parts }: Document): readonly string[] => {
  const found = partsOf(result);
  return [...new Set([...Object.keys(parts), ...Object.keys(found)])].flatMap((name) => {
    if (found[name] === undefined) return [`${name} was removed`];
    if (parts[name] === undefined) return [`${name} was added`];
    return parts[name] === found[name] ? [] : [`${name} was altered`];
  });
};

/** Compares the page with one that is written from its JSON. */
const pageFaults = (page: string, document: Document): readonly string[] => {
  const written = pageOf(document);
  if (written === page) return [];
  const [was, is] = [written.split('\n'), page.split('\n')];
  const line = was.findIndex((text, index) => text !== is[index]);
  return [`the page was altered at line ${(line === -1 ? was.length : line) + 1}`];
};

/** Needs no server. `held`: the operator's public key; without it, the key in the report is used. */
export const verifyReport = (page: string, held: KeyObject | null): ReportVerdict => {
  const document = readDocument(page);
  if (typeof document === 'string')
    return { word: null, attested_at: null, public_key_id: null, key_compared: false, faults: [document] };
  const { word, attested_at } = document.result;
  return {
    word,
    attested_at,
    public_key_id: document.public_key_id,
    key_compared: held !== null,
    faults: [...signatureFaults(document, held), ...partFaults(document), ...pageFaults(page, document)],
  };
};
