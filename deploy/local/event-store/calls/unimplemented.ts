import {
  type Server,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import monitoring from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js';
import persistent from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import projections from '@eventstore/db-client/generated/projections_grpc_pb.js';
import users from '@eventstore/db-client/generated/users_grpc_pb.js';
import { callError } from '../wire/error-trailers.ts';

const INSTEAD: readonly [unknown, string][] = [
  [
    persistent.PersistentSubscriptionsService,
    'The local event store has no persistent subscriptions: use a catch-up subscription and keep its checkpoint.',
  ],
  [
    projections.ProjectionsService,
    'The local event store runs no projections: subscribe to $all and build the read model in the service.',
  ],
  [
    operations.OperationsService,
    'The local event store has no operations: it needs no scavenge, and is stopped by ending its process.',
  ],
  [users.UsersService, 'The local event store has one user, that of its settings, or none.'],
  [
    monitoring.MonitoringService,
    'The local event store has no statistics: ask PostgreSQL for those of its table.',
  ],
];

export function addNotOffered(server: Server): void {
  for (const [definition, sentence] of INSTEAD) {
    const service = definition as ServiceDefinition;
    const calls = Object.entries(service).map(([name, method]) => [
      name,
      refusal(method.responseStream, sentence),
    ]);
    server.addService(service, Object.fromEntries(calls) as UntypedServiceImplementation);
  }
}

function refusal(isStream: boolean, sentence: string) {
  const error = callError(status.UNIMPLEMENTED, sentence);
  if (isStream) return (call: { emit(event: 'error', error: unknown): void }) => call.emit('error', error);
  return (_call: unknown, answer: (error: unknown) => void) => answer(error);
}
