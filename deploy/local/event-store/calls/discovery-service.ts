import type { handleUnaryCall, Server } from '@grpc/grpc-js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { randomUUID } from 'node:crypto';
import { STREAMS } from './streams-service.ts';

/** Server version whose protocol this follows. */
const PROTOCOL_VERSION = '24.10.5';

/** Clients request this list before their first append, and batch appends only if BatchAppend is in it. */
const getSupportedMethods: handleUnaryCall<shared.Empty, features.SupportedMethods> = (_call, answer) => {
  const methods = ['read', 'append', 'batchappend', 'delete', 'tombstone'].map((name) => {
    const method = new features.SupportedMethod();
    method.setServiceName(STREAMS.toLowerCase());
    method.setMethodName(name);
    return method;
  });
  const reply = new features.SupportedMethods();
  reply.setEventStoreServerVersion(PROTOCOL_VERSION);
  reply.setMethodsList(methods);
  answer(null, reply);
};

/** Clients choose the leader from the members: one, alive and leading. */
function readGossip(
  address: () => { host: string; port: number },
): handleUnaryCall<shared.Empty, gossip.ClusterInfo> {
  const instanceId = new shared.UUID();
  instanceId.setString(randomUUID());
  return (_call, answer) => {
    const { host, port } = address();
    const endPoint = new gossip.EndPoint();
    endPoint.setAddress(host);
    endPoint.setPort(port);
    const member = new gossip.MemberInfo();
    member.setInstanceId(instanceId);
    member.setTimeStamp(String(Date.now()));
    member.setState(gossip.MemberInfo.VNodeState.LEADER);
    member.setIsAlive(true);
    member.setHttpEndPoint(endPoint);
    const reply = new gossip.ClusterInfo();
    reply.setMembersList([member]);
    answer(null, reply);
  };
}

export function addNodeServices(server: Server, address: () => { host: string; port: number }): void {
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods });
  server.addService(gossipGrpc.GossipService, { read: readGossip(address) });
}
