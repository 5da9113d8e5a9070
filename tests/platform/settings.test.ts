import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsReference } from '#deploy/write-settings.ts';
import {
  credentialedUrl,
  environmentWithLocalStack,
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

describe('settings of the local stack', () => {
  const withStack = (environment: Readonly<Record<string, string>>) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'local-stack-'));
    try {
      const local = {
        api_url: 'http://127.0.0.1:1',
        ops_url: 'http://127.0.0.1:2',
        mcp_url: 'http://127.0.0.1:6',
        intake_url: 'http://127.0.0.1:7',
        event_store_url: 'esdb://127.0.0.1:3?tls=false',
        database_url: 'postgres://127.0.0.1:4/ads',
        nats_url: 'nats://127.0.0.1:5',
        workspace_id: 'ws',
        api_key: 'key',
        member_id: 'mem',
      };
      writeFileSync(join(DATA_DIR, 'local.json'), JSON.stringify(local));
      const secrets = { member_vault_key: 'vault', audit_signing_key: 'signing' };
      writeFileSync(join(DATA_DIR, 'secrets.json'), JSON.stringify(secrets));
      const { DATA_DIR: _folder, ...found } = environmentWithLocalStack({ DATA_DIR, ...environment });
      return found;
    } finally {
      rmSync(DATA_DIR, { recursive: true });
    }
  };

  test('complete an environment that names none of its servers, or the same ones', () => {
    const whole = {
      DATABASE_URL: 'postgres://127.0.0.1:4/ads',
      EVENT_STORE_URL: 'esdb://127.0.0.1:3?tls=false',
      NATS_URL: 'nats://127.0.0.1:5',
      MCP_BASE_URL: 'http://127.0.0.1:6',
      MEMBER_VAULT_KEY: 'vault',
      AUDIT_SIGNING_KEY: 'signing',
    };
    expect(withStack({})).toEqual(whole);
    expect(withStack({ DATABASE_URL: whole.DATABASE_URL, NATS_URL: '' })).toEqual(whole);
    expect(withStack({ AUDIT_SIGNING_KEY: 'own' })).toEqual({ ...whole, AUDIT_SIGNING_KEY: 'own' });
  });

  test.each(['DATABASE_URL', 'EVENT_STORE_URL', 'NATS_URL'])(
    'stay out of an environment with another %s',
    (name) => {
      expect(withStack({ [name]: 'other://db.example' })).toEqual({ [name]: 'other://db.example' });
    },
  );
});
