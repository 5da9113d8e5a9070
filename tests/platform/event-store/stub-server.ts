import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerDuplexStream, type ServerWritableStream, Server, ServerCredentials } from '@grpc/grpc-js';

export type AppendCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;
export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

export type StubAnswers = {
  readonly onAppend?: (call: AppendCall, request: streams.BatchAppendReq) => void;
  readonly onRead?: (call: ReadCall, options: streams.ReadReq.Options) => void;
  readonly version?: string;
  /** Ports of the nodes; the first one is the leader. */
  readonly members?: () => readonly number[];
};

export type StubServer = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  questions(): number;
};

const member = (port: number, isLeader: boolean): gossip.MemberInfo => {
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
  const endpoint = new gossip.EndPoint().setAddress('127.0.0.1').setPort(port);
  return new gossip.MemberInfo()
    .setIsAlive(true)
    .setState(isLeader ? LEADER : FOLLOWER)
    .setHttpEndPoint(endpoint);
};

export const startStubServer = async (answers: StubAnswers): Promise<StubServer> => {
  const server = new Server();
  let questions = 0;
  server.addService(streamsGrpc.StreamsService, {
    batchAppend: (call: AppendCall) => {
      call.on('data', (request: streams.BatchAppendReq) => answers.onAppend?.(call, request));
      call.on('end', () => call.end());
      call.on('error', () => undefined);
    },
    read: (call: ReadCall) => {
      call.on('error', () => undefined);
      answers.onRead?.(call, call.request.getOptions() as streams.ReadReq.Options);
    },
  });
  server.addService(featuresGrpc.ServerFeaturesService, {
    getSupportedMethods: (
      _call: unknown,
      answer: (error: null, methods: features.SupportedMethods) => void,
    ) => {
      questions += 1;
      answer(null, new features.SupportedMethods().setEventStoreServerVersion(answers.version ?? '24.10.5'));
    },
  });
  server.addService(gossipGrpc.GossipService, {
    read: (_call: unknown, answer: (error: null, info: gossip.ClusterInfo) => void) => {
      const members = (answers.members?.() ?? []).map((one, place) => member(one, place === 0));
      answer(null, new gossip.ClusterInfo().setMembersList(members));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    port,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    questions: () => questions,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
};

/** Answers an append; the position equals the revision. */
export const acknowledge = (call: AppendCall, request: streams.BatchAppendReq, revision: number): void => {
  const success = new streams.BatchAppendResp.Success();
  success.setCurrentRevision(String(revision));
  const position = new shared.AllStreamPosition();
  position.setCommitPosition(String(revision));
  position.setPreparePosition(String(revision));
  success.setPosition(position);
  const answer = new streams.BatchAppendResp();
  answer.setCorrelationId(request.getCorrelationId());
  answer.setSuccess(success);
  call.write(answer);
};

/** Refuses an append as a node does that was cut off from its cluster. */
export const refuse = (call: AppendCall, request: streams.BatchAppendReq): void => {
  const answer = new streams.BatchAppendResp();
  answer.setCorrelationId(request.getCorrelationId());
  answer.setStreamIdentifier(request.getOptions()?.getStreamIdentifier());
  answer.setError(new statusMessages.Status().setMessage('No leader info available in response'));
  call.write(answer);
};

export const allOf = async <T>(read: AsyncIterable<T>): Promise<readonly T[]> => {
  const all: T[] = [];
  for await (const item of read) all.push(item);
  return all;
};

export const eventAt = (position: bigint, stream = 'test-1', type = 'Tried'): streams.ReadResp => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
  recorded.setId(new shared.UUID().setString('00000000-0000-4000-8000-000000000001'));
  recorded.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
  recorded.setStreamRevision('0');
  recorded.setCommitPosition(String(position));
  recorded.setPreparePosition(String(position));
  recorded.getMetadataMap().set('type', type).set('content-type', 'application/json');
  recorded.getMetadataMap().set('created', '17000000000000000');
  recorded.setData(Buffer.from('{}'));
  recorded.setCustomMetadata(Buffer.from('{"schema_version":1}'));
  return new streams.ReadResp().setEvent(new streams.ReadResp.ReadEvent().setEvent(recorded));
};

export const checkpointAt = (commit: bigint, prepare = commit): streams.ReadResp => {
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(String(commit));
  checkpoint.setPreparePosition(String(prepare));
  return new streams.ReadResp().setCheckpoint(checkpoint);
};

export const confirmation = (): streams.ReadResp =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId('stub'),
  );

export const caughtUp = (): streams.ReadResp =>
  new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
