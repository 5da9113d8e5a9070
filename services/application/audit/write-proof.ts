import { CHAIN_START, chainHash, type DigestedEvent, eventHash } from '#contracts/audit/chain.ts';
import {
  HiddenEvent,
  PROOF_VERSION,
  ProofEvent,
  ProofHeader,
  type ProofStatement,
  ruleOf,
  ProofEnd,
} from '#contracts/audit/proof.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import { digestedEvent, readAttestation } from './log-digest.ts';
import { verify } from 'node:crypto';
import type { z } from 'zod';
import { checkProof as check, type ProofCheck } from '#contracts/audit/check-proof.ts';
import { readPublicKey } from './signing-key.ts';

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

const parserOf =
  <T>(schema: z.ZodType<T>) =>
  (line: string): T | null => {
    try {
      return schema.safeParse(JSON.parse(line)).data ?? null;
    } catch {
      return null;
    }
  };

const isSigned = (text: string, publicKey: string, signature: string): boolean => {
  try {
    const bytes = Buffer.from(text, 'utf8');
    return verify(null, bytes, readPublicKey(publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
};

export const checkProof = (lines: AsyncIterable<string> | Iterable<string>): Promise<ProofCheck> =>
  check(lines, {
    header: parserOf(ProofHeader),
    event: parserOf(ProofEvent),
    hidden: parserOf(HiddenEvent),
    end: parserOf(ProofEnd),
    isSigned,
  });
