-- Alert rules that are not deleted. Times are ISO text in UTC with milliseconds, so they sort as text.
create table alert (
  workspace_id text not null,
  alert_id uuid not null,
  name text not null,
  trigger text not null,
  brand_ids text[] not null,
  cadence text not null,
  email boolean not null,
  webhook_url text,
  -- Host of the chat address. No event contains the address itself.
  chat_host text,
  enabled boolean not null,
  -- Limits of what is sent; null without one. `quiet_hours` is JSON text.
  threshold int,
  quiet_hours text,
  max_per_day int,
  -- JSON text of why the channel is suspended; null if it is not.
  webhook_suspended text,
  chat_suspended text,
  created_by text not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  primary key (workspace_id, alert_id)
);
-- indexes
create index alert_newest on alert (workspace_id, created_at desc, alert_id desc);
