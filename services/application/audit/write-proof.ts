import { CHAIN_START, chainHash, type DigestedEvent, eventHash } from '#contracts/audit/chain.ts';
import {
  type HiddenEvent,
  PROOF_VERSION,
  type ProofEvent,
  type ProofHeader,
  type ProofStatement,
  ruleOf,
} from '#contracts/audit/proof.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import { digestedEvent, readAttestation } from './log-digest.ts';

/**
 * Yields the lines of a bundle. A stream has all events up to the later of the statement and the newest digest, those that
 * are not shown by their hashes only.
 */
export const proofLines = async function* (
  statement: ProofStatement,
  { pool, rawLog }: { readonly pool: Database; readonly rawLog: RawLog },
  isShown: (event: DigestedEvent) => boolean = () => true,
): AsyncGenerator<string> {
  const names = statement.streams.map(({ stream }) => stream);
  const attestation = await readAttestation(pool, names);
  const header: ProofHeader = {
    kind: 'proof',
    proof_version: PROOF_VERSION,
    statement,
    rule: ruleOf(statement),
    digest: attestation?.digest ?? null,
    heads:
      attestation === null
        ? []
        : [...attestation.heads.values()].map((head) => ({ ...head, path: [...head.path] })),
  };
  yield `${JSON.stringify(header)}\n`;
  let events = 0;
  for (const { stream, revision } of statement.streams) {
    const attested = BigInt(attestation?.heads.get(stream)?.revision ?? -1);
    const last = attested > BigInt(revision) ? attested : BigInt(revision);
    let head = CHAIN_START;
    for await (const raw of rawLog.stream(stream)) {
      if (raw.revision > last) break;
      const event = digestedEvent(raw);
      const sha256 = eventHash(event);
      head = chainHash(head, sha256);
      const line: ProofEvent | HiddenEvent = isShown(event)
        ? { kind: 'event', ...event, head }
        : { kind: 'hidden', stream, revision: event.revision, sha256, head };
      events += 1;
      yield `${JSON.stringify(line)}\n`;
    }
  }
  yield `${JSON.stringify({ kind: 'end', events })}\n`;
};
