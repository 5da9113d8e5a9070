import { traceOf } from '#application/delivery-outbox/trace-context.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';
import type { Send } from './send.ts';

export const tracedSend = (pool: Database, send: Send): Send => {
  if (!isTracing()) return send;
  return async (delivery) => {
    const { deliveryId, target, attempts, workspaceId } = delivery;
    const parent = await traceOf(pool, deliveryId);
    const attributes = { delivery_id: deliveryId, attempt: attempts + 1, workspace_id: workspaceId };
    return inSpan(`send ${target.channel}`, { kind: 'client', parent, attributes }, async (span) => {
      const sent = await send(delivery);
      span?.set('cancelled' in sent ? { outcome: 'cancelled' } : { delivered: sent.delivered });
      return sent;
    });
  };
};
