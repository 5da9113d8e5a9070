import { CHAIN_START, chainHash, digestSigningText, eventHash, leafHash, rootOfPath } from './chain.ts';
import type { HiddenEvent, ProofEnd, ProofEvent, ProofHeader } from './proof.ts';
import { sha256 } from './sha256.ts';

/** Checks bundles. The page of an ad runs this code in browsers, so it needs nothing but the hashes of the log. */

/** Faults that are named; a file of another kind has one on each line. */
const FAULTS_MAX = 100;
const KEY_ID_LENGTH = 16;

export type ProofCheck = {
  /** `null` when the first line is not that of a proof. */
  readonly header: ProofHeader | null;
  readonly events: number;
  /** Events of the statement, and those recorded after its moment. */
  readonly counted: number;
  readonly leftOut: number;
  /** Events of which a page has the hash alone. */
  readonly hidden: number;
  /** Events of the statement that the digest does not cover, because it is older. */
  readonly notAttested: number;
  /**
   * True when events that the digest does not cover may have been left out or invented: for a moment after its last event, for
   * events of the statement behind its paths, for a stream without one, and for an event whose time its hash does not cover.
   */
  readonly isOpen: boolean;
  /** A sentence for each alteration, in the order of the log; empty for a whole bundle. */
  readonly faults: readonly string[];
};

/** Each parser returns `null` for another line. */
export type ProofReader = {
  readonly header: (line: string) => ProofHeader | null;
  readonly event: (line: string) => ProofEvent | null;
  readonly hidden: (line: string) => HiddenEvent | null;
  readonly end: (line: string) => ProofEnd | null;
  /** `publicKey` (SPKI) and `signature` in base64. */
  readonly isSigned: (text: string, publicKey: string, signature: string) => boolean | Promise<boolean>;
};

/** True for events that the statement rests on. */
export const isCounted = (
  { statement }: Pick<ProofHeader, 'statement'>,
  { stream, revision, recorded_at }: ProofEvent,
): boolean => {
  const read = statement.streams.find((one) => one.stream === stream);
  return (
    read !== undefined &&
    BigInt(revision) <= BigInt(read.revision) &&
    Date.parse(recorded_at) <= Date.parse(statement.as_of)
  );
};

/** Otherwise a statement could count fewer events than were there. */
const isLeftOut = ({ statement }: ProofHeader, { stream, revision, recorded_at }: ProofEvent): boolean => {
  const read = statement.streams.find((one) => one.stream === stream);
  return (
    BigInt(revision) > BigInt(read?.revision ?? -1) && Date.parse(recorded_at) <= Date.parse(statement.as_of)
  );
};

/** True for a moment that no digest covers. */
const isLater = ({ digest, statement }: ProofHeader): boolean =>
  digest === null || Date.parse(statement.as_of) > Date.parse(digest.recorded_until);

/** A stream without a path may have had other events. */
const lacksPath = ({ heads, statement }: ProofHeader): boolean =>
  statement.streams.some(({ stream }) => !heads.some((head) => head.stream === stream));

/** The id of a key, as `publicKeyId` gives it. */
const keyIdOf = (publicKey: string): string =>
  sha256(Uint8Array.from(atob(publicKey), (character) => character.charCodeAt(0))).slice(0, KEY_ID_LENGTH);

/** Other forms of a number would not be equal as texts. The page has no other check of forms. */
const isPlain = (revision: string): boolean => String(BigInt(revision)) === revision;

/** Checks the forms of the statement, the signature of the digest, and the path of each stream to its root. */
const headerFaults = async (
  { digest, heads, statement }: ProofHeader,
  { isSigned }: ProofReader,
): Promise<readonly string[]> => {
  const faults = [...statement.streams, ...heads]
    .filter(({ revision }) => !isPlain(revision))
    .map(({ stream, revision }) => `${stream}: ${revision} is not how a revision is written.`);
  for (const named of [statement.streams, heads])
    for (const [index, { stream }] of named.entries())
      if (named.findIndex((one) => one.stream === stream) < index)
        faults.push(`${stream}: the proof names this stream twice.`);
  const moment = new Date(statement.as_of);
  if (Number.isNaN(moment.getTime()) || moment.toISOString() !== statement.as_of)
    faults.push('The moment of the statement is not how a time is written.');
  if (digest === null) return heads.length === 0 ? faults : ['The proof has paths and no digest.'];
  if (!(await isSigned(digestSigningText(digest), digest.public_key, digest.signature)))
    faults.push(`Digest ${digest.sequence}: the signature is not that of its key.`);
  if (keyIdOf(digest.public_key) !== digest.public_key_id)
    faults.push(`Digest ${digest.sequence}: the id is not that of its key.`);
  for (const { path, ...head } of heads) {
    if (!statement.streams.some(({ stream }) => stream === head.stream))
      faults.push(`${head.stream}: the statement does not name this stream.`);
    if (rootOfPath(leafHash(head), path) !== digest.root)
      faults.push(`${head.stream}: its path does not lead to the root of digest ${digest.sequence}.`);
  }
  return faults;
};

/** Chains the events stream by stream, in the order of the statement, from revision 0 on. */
const createChains = (header: ProofHeader, fault: (text: string) => void) => {
  const chains = new Map<string, { next: bigint; head: string }>();
  const heads = new Map(header.heads.map((head) => [head.stream, head]));
  const lastRevision = (stream: string): bigint => {
    const read = BigInt(header.statement.streams.find((one) => one.stream === stream)?.revision ?? -1);
    const attested = BigInt(heads.get(stream)?.revision ?? -1);
    return attested > read ? attested : read;
  };
  let place = 0;
  const isInOrder = (stream: string): boolean => {
    const found = header.statement.streams.findIndex((one) => one.stream === stream);
    if (found < place) return false;
    place = found;
    return true;
  };
  return {
    add: (event: ProofEvent | HiddenEvent): void => {
      const { stream, head } = event;
      const revision = BigInt(event.revision);
      const chain = chains.get(stream) ?? { next: 0n, head: CHAIN_START };
      const name = `${stream}, revision ${revision}`;
      if (!isPlain(event.revision)) return fault(`${name}: the revision is written otherwise.`);
      if (revision > lastRevision(stream)) return fault(`${name}: the proof does not name this event.`);
      if (!isInOrder(stream) || revision < chain.next)
        return fault(`${name}: the event is repeated, or not in order.`);
      if (revision > chain.next) fault(`${stream}: revisions ${chain.next} to ${revision - 1n} are missing.`);
      const computed = chainHash(chain.head, event.kind === 'hidden' ? event.sha256 : eventHash(event));
      if (event.kind === 'event' && isLeftOut(header, event))
        fault(`${name}: it was recorded by the moment, and the statement leaves it out.`);
      // After a gap the chain continues from the hash in the event, so that one fault is reported once.
      if (revision === chain.next && computed !== head) fault(`${name}: the event was altered.`);
      chains.set(stream, { next: revision + 1n, head });
      const attested = heads.get(stream);
      if (attested?.revision === event.revision && attested.head !== head)
        fault(`${stream}: its events are not those that the digest covers.`);
    },
    end: (): void => {
      for (const { stream } of header.statement.streams) {
        const next = chains.get(stream)?.next ?? 0n;
        const last = lastRevision(stream);
        if (next <= last) fault(`${stream}: revisions ${next} to ${last} are missing.`);
      }
    },
  };
};

const NO_STATEMENT =
  'Line 1 is not the statement of a proof: give the file that `bundle_url` or `page_url` leads to.';

/** Checks that the bundle is whole: each event as it was recorded, none left out, and the digest over them signed. */
export const checkProof = async (
  lines: AsyncIterable<string> | Iterable<string>,
  reader: ProofReader,
): Promise<ProofCheck> => {
  const faults: { readonly text: string; readonly position: number }[] = [];
  /** In the log, of the event that is checked; a hidden one has that of the event before. The statement comes first, the end last. */
  let position = -1;
  const fault = (text: string): void => {
    if (faults.length < FAULTS_MAX) faults.push({ text, position });
  };
  let header: ProofHeader | null = null;
  let chains: ReturnType<typeof createChains> | null = null;
  let end: ProofEnd | null = null;
  const counts = { events: 0, counted: 0, leftOut: 0, hidden: 0, notAttested: 0 };
  let hasTimeless = false;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (header === null || chains === null) {
      header = reader.header(line);
      if (header === null) return { ...counts, header, isOpen: true, faults: [NO_STATEMENT] };
      for (const text of await headerFaults(header, reader)) fault(text);
      chains = createChains(header, fault);
      continue;
    }
    if (end !== null) {
      fault(`Line ${number} comes after the end.`);
      continue;
    }
    end = reader.end(line);
    if (end !== null) continue;
    const isPage = header.statement.about === 'ad';
    const event = reader.event(line) ?? (isPage ? reader.hidden(line) : null);
    if (event === null) {
      fault(`Line ${number} is not an event of a proof.`);
      continue;
    }
    counts.events += 1;
    if (event.kind === 'event') {
      position = Number(event.position);
      hasTimeless ||= event.position === null;
    }
    chains.add(event);
    if (event.kind === 'hidden') counts.hidden += 1;
    else if (isCounted(header, event)) {
      counts.counted += 1;
      const attested = header.heads.find(({ stream }) => stream === event.stream);
      if (BigInt(attested?.revision ?? -1) < BigInt(event.revision)) counts.notAttested += 1;
    } else counts.leftOut += 1;
  }
  if (header === null) return { ...counts, header, isOpen: true, faults: ['The file is empty.'] };
  position = Infinity;
  chains?.end();
  if (end === null) fault('The file ends before the end of the proof.');
  else if (end.events !== counts.events)
    fault(`The proof has ${counts.events} events and states ${end.events}.`);
  const inLogOrder = faults.toSorted((one, other) => one.position - other.position || 0);
  return {
    ...counts,
    header,
    isOpen: isLater(header) || lacksPath(header) || counts.notAttested > 0 || hasTimeless,
    faults: inLogOrder.map(({ text }) => text),
  };
};
