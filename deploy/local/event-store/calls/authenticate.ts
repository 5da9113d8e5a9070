import { type ServerErrorResponse, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { hash, timingSafeEqual } from 'node:crypto';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** The part of a call that this file uses. */
interface Call {
  readonly metadata: { get(name: string): readonly (string | Buffer)[] };
  emit(name: 'error', error: Partial<ServerErrorResponse>): boolean;
}
type Answer = (error: Partial<ServerErrorResponse>) => void;

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Checks the header `authorization` (RFC 7617) before the message is read; else UNAUTHENTICATED. Compares digests of
 * equal length in constant time.
 */
export function withCredentials(
  service: UntypedServiceImplementation,
  { user, password }: Credentials,
): UntypedServiceImplementation {
  const expected = digest(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  const isAllowed = ({ metadata }: Call): boolean =>
    timingSafeEqual(digest(String(metadata.get('authorization')[0] ?? '')), expected);
  const refusal = { code: status.UNAUTHENTICATED, details: 'The user or password is wrong or missing.' };
  return Object.fromEntries(
    Object.entries(service).map(([name, serve]) => [
      name,
      (call: Call, answer?: Answer): void => {
        if (isAllowed(call)) (serve as (call: Call, answer?: Answer) => void)(call, answer);
        else if (answer) answer(refusal);
        else call.emit('error', refusal);
      },
    ]),
  );
}
