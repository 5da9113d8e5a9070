import type { ConsumerConfig, ConsumerInfo, JetStreamManager } from 'nats';

/** JetStream: the consumer does not exist. */
const CONSUMER_NOT_FOUND = 10_014;

const find = async (
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<ConsumerInfo | null> => {
  try {
    return await manager.consumers.info(stream, name);
  } catch (error) {
    const { api_error } = error as { api_error?: { err_code?: number } };
    if (api_error?.err_code === CONSUMER_NOT_FOUND) return null;
    throw error;
  }
};

/**
 * Leaves an existing consumer as an operator may have chosen it; servers from 2.10 on refuse other values. Returns it,
 * or `null` when it was created.
 */
export const ensureConsumer = async (
  manager: JetStreamManager,
  stream: string,
  config: Partial<ConsumerConfig> & { readonly durable_name: string },
): Promise<ConsumerInfo | null> => {
  const existing = await find(manager, stream, config.durable_name);
  if (existing !== null) return existing;
  try {
    await manager.consumers.add(stream, config);
    return null;
  } catch (error) {
    // Another process that creates it at the same time with other values was first.
    const first = await find(manager, stream, config.durable_name);
    if (first === null) throw error;
    return first;
  }
};
