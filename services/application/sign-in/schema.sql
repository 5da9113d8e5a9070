-- Sign-in of members in a browser. None of it is derived from the log; without it, people sign in again. Codes,
-- links and cookies are stored as hashes, so that a copy of the tables opens nothing.
create schema if not exists sign_in;

-- Codes sent by e-mail, one per browser. A row exists for unknown addresses too, so that both behave the same.
create table if not exists sign_in.code (
  browser_hash text primary key,
  -- Blind index of the address.
  account_id text not null,
  code_hash text not null,
  attempt_id text not null,
  tries integer not null default 0,
  spent boolean not null default false,
  expires_at timestamptz not null
);

-- Times of the last day at which a code was requested. `subject` is a keyed hash of an address or of an IP address.
create table if not exists sign_in.send (
  subject text primary key,
  sent_at timestamptz[] not null
);

-- Invitation links. `browser_hash`: the browser that used the link; no other one can use it again.
create table if not exists sign_in.invitation (
  token_hash text primary key,
  invitation_id text not null unique,
  workspace_id text not null,
  member_id text not null,
  expires_at timestamptz not null,
  browser_hash text,
  used_at timestamptz
);

-- Sign-ins at the organisation's own server that have begun. A row is deleted when the browser comes back.
create table if not exists sign_in.upstream (
  state_hash text primary key,
  browser_hash text not null,
  code_verifier text not null,
  nonce text not null,
  return_to text not null,
  expires_at timestamptz not null
);

-- Browsers in which a member is signed in.
create table if not exists sign_in.browser (
  sign_in_id text primary key,
  token_hash text not null unique,
  account_id text not null,
  method text not null,
  signed_in_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index if not exists browser_of_account on sign_in.browser (account_id);
