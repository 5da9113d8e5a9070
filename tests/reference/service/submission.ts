import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import { headersFrom } from '#platform/nats/connection.ts';
import type { BrandRegister, Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { accessSetsOf, DependencyOrder } from '#services/ingest/queue/dependency-order.ts';
import { readObservationMessage } from '#services/ingest/queue/observation-message.ts';
import type { IntakeServers } from '#tests/ingest/fixtures/intake-stack.ts';
import { openInterruptedIntake } from './interruptions.ts';

export type Way =
  | { readonly kind: 'in turn' }
  /** As from the queue: at the same time, unless one depends on another. */
  | { readonly kind: 'queued' }
  | { readonly kind: 'interrupted'; readonly seed: number };

export type Submission = AsyncDisposable & {
  submit(messages: readonly Observation[]): Promise<void>;
  interrupted(): number;
};

const submitInTurn = async (intake: Intake, messages: readonly Observation[]): Promise<void> => {
  for (const message of messages) await intake.submit(message);
};

const readMessage = (message: Observation) =>
  readObservationMessage({
    subject: observationSubject(keyOf(message)),
    data: Buffer.from(JSON.stringify(message)),
    headers: headersFrom(routingHeadersOf(message)),
  });

const submitQueued = async (
  intake: Intake & BrandRegister,
  messages: readonly Observation[],
): Promise<void> => {
  const order = new DependencyOrder();
  const errors: unknown[] = [];
  const running: Promise<void>[] = [];
  for (const message of messages) {
    const sets = await accessSetsOf(readMessage(message), (domain) => intake.isBrandRegistered(domain));
    const work = async (): Promise<void> => {
      await intake.submit(message).catch((error: unknown) => errors.push(error));
    };
    running.push(order.run(sets, work));
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
};

export const openSubmission = async (
  { databaseUrl, eventStoreUrl }: IntakeServers,
  way: Way,
): Promise<Submission> => {
  if (way.kind === 'interrupted') {
    const intake = await openInterruptedIntake({ databaseUrl, eventStoreUrl }, way.seed);
    return {
      submit: (messages) => submitInTurn(intake, messages),
      interrupted: intake.failures,
      [Symbol.asyncDispose]: () => intake[Symbol.asyncDispose](),
    };
  }
  const intake = await openIntake({ databaseUrl, eventStoreUrl });
  const submit = way.kind === 'queued' ? submitQueued : submitInTurn;
  return {
    submit: (messages) => submit(intake, messages),
    interrupted: () => 0,
    [Symbol.asyncDispose]: () => intake[Symbol.asyncDispose](),
  };
};
