-- Secrets of workspaces, which events name by fingerprint only: signing secrets of webhooks, and addresses of chat
-- tools that carry their own secret. `owner` is what a secret is for, and goes with it.
create schema if not exists vault;
create table if not exists vault.secret (
  workspace_id text not null,
  owner text not null,
  fingerprint text not null,
  sealed bytea not null,
  sealed_at timestamptz not null default now(),
  primary key (workspace_id, owner, fingerprint)
);
