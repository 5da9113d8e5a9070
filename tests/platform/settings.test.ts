import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsReference } from '#deploy/write-settings.ts';
import {
  credentialedUrl,
  readSettings,
  secrecyOf,
  secret,
  showSettings,
  withoutCredentials,
} from '#platform/settings.ts';
import { natsOptions } from '#platform/nats/connection-url.ts';
import { AlertsSettings } from '#services/alerts/settings.ts';
import { ApiSettings } from '#services/api/settings.ts';
import { DeliverySettings } from '#services/delivery/settings.ts';
import { IngestSettings } from '#services/ingest/settings.ts';
import { OpsSettings } from '#services/ops/settings.ts';
import { ProjectorSettings } from '#services/projector/settings.ts';
import { WorkerSettings } from '#services/worker/settings.ts';

const ALL: readonly z.ZodObject[] = [
  AlertsSettings,
  ApiSettings,
  DeliverySettings,
  IngestSettings,
  OpsSettings,
  ProjectorSettings,
  WorkerSettings,
];
/** Names of settings that may hold a secret. */
const SOUNDS_SECRET = /SECRET|TOKEN|PASSWORD|KEY|HEADERS|^(?!API_BASE).*_URL/;

describe('secret settings', () => {
  test('are marked in the schema when their name sounds secret', () => {
    for (const { shape } of ALL) {
      for (const [name, schema] of Object.entries(shape)) {
        if (SOUNDS_SECRET.test(name)) expect(secrecyOf(schema as z.ZodType), name).not.toBeNull();
      }
    }
  });

  test('are hidden in the shown settings', () => {
    const schema = z.object({
      TOKEN: secret(z.string().optional(), 'a token'),
      OTHER_TOKEN: secret(z.string().optional(), 'another'),
      SERVER_URL: credentialedUrl(z.string(), 'a server'),
      PORT: z.coerce.number().default(1),
    });
    const settings = readSettings(schema, {
      TOKEN: 'hush',
      SERVER_URL: 'postgres://ada:hush@host/db?sslmode=require&password=hush',
    });
    expect(showSettings(schema, settings)).toEqual({
      TOKEN: '[hidden]',
      OTHER_TOKEN: null,
      SERVER_URL: 'postgres://[hidden]@host/db?sslmode=require&password=[hidden]',
      PORT: 1,
    });
  });

  test.each([
    ['nats://token@host:4222,other:4222?ca_file=/ca', 'nats://[hidden]@host:4222,other:4222?ca_file=/ca'],
    ['esdb+discover://a:b@c@host:2113?tls=true', 'esdb+discover://[hidden]@host:2113?tls=true'],
    ['postgres://host/db', 'postgres://host/db'],
    ['smtp://user:p%40ss@mail:25', 'smtp://[hidden]@mail:25'],
    ['hush', '[hidden]'],
    ['postgres://host/db#hush', '[hidden]'],
  ])('hides the credentials of %s as %s', (url, shown) => {
    expect(withoutCredentials(url)).toBe(shown);
  });
});

test('reports all invalid settings at once, without their values', () => {
  const settings = {
    DATABASE_URL: 'mysql://ada:hush@host',
    EVENT_STORE_URL: 'ada:hush@host',
    NATS_URL: 'hush',
    API_PORT: 'hush',
    CURSOR_SECRET: 'hush',
    MEMBER_VAULT_KEY: 'hush',
    SMTP_URL: 'hush',
    LOG_LEVEL: 'hush',
  };
  const thrown = (() => {
    try {
      readSettings(ApiSettings, settings);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  })();
  for (const name of Object.keys(settings)) expect(thrown).toContain(`  ${name}: `);
  expect(thrown).not.toContain('hush');
});

describe('NATS_URL', () => {
  test('accepts several hosts with user and password', () => {
    expect(natsOptions('nats://ada:p%40ss@one:4222,two:4222')).toEqual({
      servers: ['one:4222', 'two:4222'],
      user: 'ada',
      pass: 'p@ss',
    });
  });
  test('accepts a token', () => {
    expect(natsOptions('nats://hush@one:4222')).toEqual({ servers: ['one:4222'], token: 'hush' });
  });
  test('requires TLS by its scheme or by a certificate file', () => {
    expect(natsOptions('tls://one:4222')).toEqual({ servers: ['one:4222'], tls: {} });
    expect(natsOptions('nats://one:4222?ca_file=/ca.pem&cert_file=/c&key_file=/k')).toEqual({
      servers: ['one:4222'],
      tls: { caFile: '/ca.pem', certFile: '/c', keyFile: '/k' },
    });
  });
  test('does not repeat an invalid URL in the error', () => {
    expect(() => natsOptions('nats://hush hush')).not.toThrow(/hush hush/);
    expect(() => natsOptions('http://hush')).toThrow('NATS_URL');
    expect(() => natsOptions('nats://one?tls=true')).toThrow('unknown parameter tls');
  });
});

test('deploy/SETTINGS.md matches the generated settings reference', () => {
  const file = join(import.meta.dirname, '../../deploy/SETTINGS.md');
  expect(readFileSync(file, 'utf8')).toBe(settingsReference());
});
