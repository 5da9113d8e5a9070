-- Migration from the old layout, in schema `delivery_before`: there, `delivery` held the state of deliveries and
-- `content` held what is sent.
insert into delivery.delivery
  (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
select delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload
from delivery_before.delivery join delivery_before.content using (delivery_id);

insert into delivery.due
  (delivery_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at, taken_by, taken_until)
select delivery_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at, taken_by, taken_until
from delivery_before.delivery where next_attempt_at is not null;

insert into delivery.journal (seq, delivery_id, type, at, attempt, outcome, failure, status_code, reason, duration_ms,
  next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, answer)
overriding system value
select seq, delivery_id, type, at,
  coalesce(max(attempt) over (partition by delivery_id order by seq), 0),
  outcome, failure, status_code, reason, duration_ms,
  next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, answer
from delivery_before.journal;
select setval(pg_get_serial_sequence('delivery.journal', 'seq'), (select coalesce(max(seq), 0) + 1 from delivery.journal));

insert into delivery.recorded select * from delivery_before.recorded;
insert into delivery.stream select * from delivery_before.stream;
insert into delivery.failing select * from delivery_before.failing;
insert into delivery.pace select * from delivery_before.pace;
drop schema delivery_before cascade;
