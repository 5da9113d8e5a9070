-- Encrypted secrets of workspaces: signing secrets of webhooks, and chat addresses that contain a secret. Events hold
-- only their fingerprints. `owner` is the object that a secret belongs to; its secrets are deleted together.
create schema if not exists vault;
create table if not exists vault.secret (
  workspace_id text not null,
  owner text not null,
  fingerprint text not null,
  sealed bytea not null,
  sealed_at timestamptz not null default now(),
  primary key (workspace_id, owner, fingerprint)
);
