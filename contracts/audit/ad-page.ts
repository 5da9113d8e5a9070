import type { AdAttributed } from '../events/corpus/ad-library-corrections.ts';
import { AD_RULE, type AdFacts, readAdFacts } from './ad-facts.ts';
import { isCounted, type ProofCheck } from './check-proof.ts';
import type { AdStatement, ProofEvent, ProofHeader } from './proof.ts';
import { sha256 } from './sha256.ts';

/**
 * The page of an ad: what was observed of it, and the events and the signature that prove it. It is a function of its
 * bundle, so who has the bundle can make the page again and compare. It runs this code in browsers.
 */

export type PageParts = {
  /** Lines of the bundle. */
  readonly bundle: string;
  /** Bytes of an image in base64. */
  readonly picture: string | null;
  readonly script: string;
};

/** By the first bytes, in base64. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '/9j/': 'image/jpeg',
  R0lG: 'image/gif',
  UklG: 'image/webp',
  iVBO: 'image/png',
};

const sourceHash = (text: string): string => {
  const bytes = (sha256(text).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return `'sha256-${btoa(String.fromCharCode(...bytes))}'`;
};

/** Content-Security-Policy: nothing but this style, this script and pictures in the page itself. */
const policyOf = (script: string): string =>
  `default-src 'none'; img-src data:; style-src ${sourceHash(PAGE_STYLE)}; script-src ${sourceHash(script)}; base-uri 'none'; form-action 'none'`;

export const PAGE_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; overflow-wrap: anywhere; background: light-dark(#fff, #16181d); color: light-dark(#1b1e24, #e9ebf0); }
h1 { font-size: clamp(1.25rem, 6vw, 2rem); }
dl { display: grid; grid-template-columns: minmax(7rem, 1fr) 3fr; gap: .25rem 1rem; }
dt { color: light-dark(#545b66, #aab1bd); }
dd { margin: 0; white-space: pre-wrap; }
img { max-width: 100%; height: auto; }
small, figcaption { color: light-dark(#545b66, #aab1bd); }
#status { border: 2px solid; border-radius: .5rem; padding: .75rem; font-weight: 600; }
#status.whole { color: light-dark(#0a6b2f, #6fdc98); }
#status.part { color: light-dark(#7a4b00, #f0c063); }
#status.altered { color: light-dark(#b3161b, #ff9a9a); }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`;

export const NOT_CHECKED =
  'Not checked. The script of this page checks it without a network; it did not run here, or is still at work.';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
};
/** HTML parsers change carriage returns, NUL and halves of surrogate pairs, so that pages would not be read as written. */
const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replace(/[&<>"'\r]/g, (character) => ENTITIES[character] ?? '');

/** No text of an event ends the element, and no line of the bundle is split. */
export const escapeBundle = (bundle: string): string =>
  bundle.replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const STATUS_WORDS: Readonly<Record<AdFacts['status'], string>> = {
  active: 'Active: shown by the last scan that covered its page.',
  missing:
    'Missing: not seen by the last scan that covered its page, and not confirmed inactive. An ad not seen is not an ad stopped.',
  inactive: 'Inactive',
};

const statusWords = ({ status, basis, stopped_on }: AdFacts): string => {
  if (status !== 'inactive') return STATUS_WORDS[status];
  const date = stopped_on === null ? '' : `, with the stop date ${stopped_on}`;
  return basis === 'library'
    ? `Inactive: the library showed it as ended${date}.`
    : `Inactive: absent from two complete scans in a row, at least 20 hours apart${date}.`;
};

const row = (name: string, value: string | null): string =>
  `<dt>${name}</dt><dd data-fact="${name}">${escapeHtml(value ?? 'not observed')}</dd>`;

const factRows = (facts: AdFacts): readonly string[] => [
  row('Status', statusWords(facts)),
  row('Title', facts.title),
  row('Text', facts.body),
  row('Link', facts.link_url),
  row('Page', facts.page_id === null ? null : `${facts.page_name ?? ''} (${facts.page_id})`),
  row('Start date of the library', facts.started_on),
  row('First seen', facts.first_seen_at),
  row('Last seen', facts.last_seen_at),
];

const observationItem = ({ event, at, text }: AdFacts['observations'][number], index: number): string =>
  `<li><span data-fact="Observation ${index + 1}">${escapeHtml(`${at}: ${text}`)}</span> <small data-fact="Source of observation ${index + 1}">${escapeHtml(`Recorded at ${event.recorded_at}: ${event.stream}, revision ${event.revision}, ${event.type}`)}</small></li>`;

const pictureSection = (picture: string | null, { picture_sha256 }: AdStatement): string =>
  picture === null
    ? '<p data-fact="Picture">This page has no picture of the ad.</p>'
    : `<figure><img id="picture" alt="Picture of the ad, as archived" src="data:${IMAGE_TYPES[picture.slice(0, 4)] ?? ''};base64,${escapeHtml(picture)}"><figcaption data-fact="Picture">SHA-256 ${picture_sha256}</figcaption></figure>`;

const signatureRows = ({ digest }: ProofHeader): readonly string[] =>
  digest === null
    ? ['<dt>Digest</dt><dd data-fact="Digest">None is signed yet, and nothing attests the events.</dd>']
    : [
        row('Digest', `${digest.sequence}, made at ${digest.made_at}`),
        row('Covers', `${digest.events} events recorded until ${digest.recorded_until}`),
        row('Root', digest.root),
        row('Id of the key', digest.public_key_id),
        row('Public key', digest.public_key),
        row('Signature', digest.signature),
      ];

const pathItem = ({ stream, revision, path }: ProofHeader['heads'][number]): string =>
  `<li data-fact="Path of ${escapeHtml(stream)}">${escapeHtml(`${stream}, up to revision ${revision}: ${path.length} steps to the root`)}</li>`;

/** The statement and the events that it rests on. `null` for a bundle about something else, or that cannot be read. */
export const readPageBundle = (
  bundle: string,
): {
  readonly header: ProofHeader;
  readonly statement: AdStatement;
  readonly facts: AdFacts;
  readonly events: readonly ProofEvent[];
} | null => {
  try {
    const [first = '', ...rest] = bundle.trim().split('\n');
    const header = JSON.parse(first) as ProofHeader;
    const { statement } = header;
    if (statement.about !== 'ad') return null;
    const events = rest
      .map((line) => JSON.parse(line) as ProofEvent)
      .filter(
        (event) => event.kind === 'event' && typeof event.data === 'string' && isCounted(header, event),
      );
    const facts = readAdFacts(events, statement.ad_id);
    return facts && { header, statement, facts, events };
  } catch {
    return null;
  }
};

/** `picture`: the one on the page. A bundle that cannot be read has no faults of its own here. */
export const statementFaults = (bundle: string, picture: string | null): readonly string[] => {
  const read = readPageBundle(bundle);
  if (read === null) return [];
  const { header, statement, events } = read;
  const { ad_id, picture_sha256 } = statement;
  const faults: string[] = header.rule === AD_RULE ? [] : ['The rule is not that of an ad.'];
  const found = picture === null ? null : hashOfBase64(picture);
  if (picture_sha256 !== found)
    return [
      ...faults,
      `The picture is not the recorded one: its SHA-256 is ${found}, and the statement has ${picture_sha256}.`,
    ];
  if (picture !== null && IMAGE_TYPES[picture.slice(0, 4)] === undefined)
    faults.push('The picture is not an image.');
  const lacking = otherLibraries(events, ad_id).filter(
    (stream) => !statement.streams.some((one) => one.stream === stream),
  );
  faults.push(
    ...lacking.map((stream) => `${stream}: the ad moved from or to this brand, and its events are missing.`),
  );
  const isRecorded = events.some(
    ({ stream, data }) => stream === `creative-${found}` && data.includes(JSON.stringify(ad_id)),
  );
  return found === null || isRecorded
    ? faults
    : [...faults, 'No event records the picture as one of this ad.'];
};

/** Streams of the brands between which the ad moved. Both record a move, so neither is empty. */
const otherLibraries = (events: readonly ProofEvent[], adId: string): readonly string[] =>
  events
    .filter(({ type }) => type === 'AdAttributed')
    .map(({ data }) => JSON.parse(data) as AdAttributed['data'])
    .filter(({ ad_id }) => ad_id === adId)
    .flatMap(({ from_brand_id, to_brand_id }) => [`adLibrary-${from_brand_id}`, `adLibrary-${to_brand_id}`]);

const hashOfBase64 = (base64: string): string => {
  try {
    return sha256(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
  } catch {
    return 'not readable';
  }
};

type PageBundle = NonNullable<ReturnType<typeof readPageBundle>>;

/** One fact a line, so that a difference can be named. */
const renderBundle = (
  { header, statement, facts }: PageBundle,
  { bundle, picture, script }: PageParts,
): string => {
  const title = `Ad ${escapeHtml(statement.ad_id)}, as observed`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policyOf(script))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p id="status" role="status" aria-live="polite">${NOT_CHECKED}</p>
<ul id="faults"></ul>
<h2>What was observed</h2>
<p data-fact="Moment">As known at ${escapeHtml(statement.as_of)}: events recorded by then count. All times are UTC.</p>
<dl>
${factRows(facts).join('\n')}
</dl>
<h2>Picture</h2>
${pictureSection(picture, statement)}
<h2>Observations</h2>
<ol>
${facts.observations.map(observationItem).join('\n')}
</ol>
<h2>Signature</h2>
<p>The events of each stream form a chain of hashes. The end of each chain is a leaf of a Merkle tree, whose root is signed with Ed25519.</p>
<dl>
${signatureRows(header).join('\n')}
</dl>
<ul>
${header.heads.map(pathItem).join('\n')}
</ul>
<h2>Limits of this page</h2>
<p>Anyone can sign with a key of their own: compare the id of the key with the one that the operator published. A page with another script can claim anything: <code>npm run ops -- proof verify FILE --public-key KEY</code> checks this file by code that is not in it. A page of many events has those that do not name the ad by their hashes only; then it says so, and cannot prove that none of these is about the ad.</p>
</main>
<script type="application/x-ndjson" id="bundle">${escapeBundle(bundle)}</script>
<script>${script}</script>
</body>
</html>
`;
};

/** `null` for a bundle that gives no page, or was altered so that it has another form. */
export const renderAdPage = (parts: PageParts): string | null => {
  try {
    const read = readPageBundle(parts.bundle);
    return read && renderBundle(read, parts);
  } catch {
    return null;
  }
};

/** Says how far a page without faults is proved. */
export const verdictOf = ({ header, counted, hidden, notAttested, isOpen }: ProofCheck): string => {
  const { digest = null } = header ?? {};
  if (digest === null)
    return `Whole, and not attested: ${counted} events chain, and no digest is signed yet.`;
  const parts = [
    `${counted - notAttested} events lead to digest ${digest.sequence}, signed by key ${digest.public_key_id}.`,
    isOpen
      ? `The digest does not attest all of it: ${notAttested} events here are newer, and others may have been left out that were recorded after ${digest.recorded_until}, or in a stream that it does not cover.`
      : '',
    hidden === 0 ? '' : `${hidden} events are here by their hashes only, and may tell more of the ad.`,
  ];
  return `${isOpen || hidden > 0 ? 'Verified in part' : 'Verified'}: ${parts.filter((one) => one !== '').join(' ')}`;
};
