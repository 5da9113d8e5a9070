import { verify } from 'node:crypto';
import type { z } from 'zod';
import { escapeBundle } from '#contracts/audit/ad-page.ts';
import { checkProof as check, type ProofCheck } from '#contracts/audit/check-proof.ts';
import { HiddenEvent, ProofEnd, ProofEvent, ProofHeader } from '#contracts/audit/proof.ts';
import { readPublicKey } from './signing-key.ts';

const parserOf =
  <T>(schema: z.ZodType<T>) =>
  (line: string): T | null => {
    try {
      const value: unknown = JSON.parse(line);
      // Otherwise a key that stands twice would say one thing to a reader and another to this check.
      const written = JSON.stringify(value);
      const isAsWritten = [written, escapeBundle(written)].includes(line.trimEnd());
      return isAsWritten ? (schema.safeParse(value).data ?? null) : null;
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
