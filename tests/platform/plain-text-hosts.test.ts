import { describe, expect, test } from 'vitest';
import { plainTextHosts, type ServerKind } from '#platform/plain-text-hosts.ts';
import { readSettings } from '#platform/settings.ts';
import { LocalSettings } from '#deploy/local/stack/settings.ts';
import { ProjectorSettings } from '#services/projector/settings.ts';

describe('plainTextHosts', () => {
  test.each<[ServerKind, string, string[]]>([
    ['postgres', 'postgres://a:b@db.example/x', ['db.example']],
    ['postgres', 'postgres://a:b@10.0.0.5:5432/x?sslmode=prefer', ['10.0.0.5']],
    ['postgres', 'postgres://a:b@127.0.0.1/x?host=db.example', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?host=/run/postgresql', []],
    ['postgres', 'postgres://a:b@db.example/x?sslmode=verify-full&sslrootcert=/ca.pem', []],
    ['postgres', 'postgres://a:b@127.0.0.1:5433/x', []],
    ['postgres', 'postgres://a:b@[::1]:5433/x', []],
    ['postgres', 'postgres://localhost.example/x', ['localhost.example']],
    ['postgres', 'postgres:///x', []],
    ['postgres', 'postgres://a:b@db.example/x?SSLMODE=require', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?sslmode=disable&ssl=true', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?sslmode=require&sslmode=disable', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?sslrootcert=/none.pem&sslmode=disable', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?ssl=0', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?HOST=127.0.0.1', ['db.example']],
    ['postgres', 'postgres://a:b@127.0.0.1/x?host=localhost&host=db.example', ['db.example']],
    ['postgres', 'postgres://a:b@db.example/x?sslmode=verify-full', []],
    ['postgres', 'postgres://a:b@db.example/x?ssl=true', []],
    ['event_store', 'esdb://es.example:2113?t_L-s=false', ['es.example']],
    ['event_store', 'esdb://es.example:2113?tls=true&tls=false', ['es.example']],
    ['event_store', 'esdb://localhost:b/c@es.example:2113?tls=false', ['es.example']],
    ['event_store', 'esdb://a:b@es.example:2113?tls=false', ['es.example']],
    ['event_store', 'esdb://127.0.0.1:2113,es.example:2113?TLS=False', ['es.example']],
    ['event_store', 'esdb+discover://a:b@es.example:2113', []],
    ['event_store', 'esdb://localhost:2113?tls=false', []],
    ['nats', 'nats://a:b@one:4222,127.0.0.1:4222', ['one']],
    ['nats', 'nats://[2001:db8::1]:4222', ['2001:db8::1']],
    ['nats', 'nats://[::ffff:127.0.0.1]:4222', []],
    ['nats', 'tls://one:4222', []],
    ['nats', 'nats://one:4222?ca_file=/ca.pem', []],
  ])('names the hosts that %s reaches unencrypted, for %s', (kind, url, hosts) => {
    expect(plainTextHosts(kind, url)).toEqual(hosts);
  });
});

describe('readSettings', () => {
  const remote = {
    DATABASE_URL: 'postgres://service:hush@db.example/ads',
    EVENT_STORE_URL: 'esdb://service:hush@es.example:2113?tls=false',
  };

  test('refuses plain text to other hosts, names all of them and shows no password', () => {
    const read = () => readSettings(ProjectorSettings, remote);
    expect(read).toThrow(/DATABASE_URL: the connection to db\.example would not be encrypted/);
    expect(read).toThrow(/EVENT_STORE_URL: the connection to es\.example would not be encrypted/);
    expect(read).toThrow(/SERVERS_ALLOW_PLAIN_TEXT=true/);
    expect(read).not.toThrow(/hush/);
    expect(() => readSettings(LocalSettings, { NATS_URL: 'nats://one:4222' })).toThrow(
      /NATS_URL: the connection/,
    );
  });

  test('accepts plain text where the operator allows it', () => {
    expect(readSettings(ProjectorSettings, { ...remote, SERVERS_ALLOW_PLAIN_TEXT: 'true' })).toMatchObject(
      remote,
    );
    expect(() => readSettings(ProjectorSettings, { ...remote, SERVERS_ALLOW_PLAIN_TEXT: 'yes' })).toThrow(
      'SERVERS_ALLOW_PLAIN_TEXT',
    );
  });
});
