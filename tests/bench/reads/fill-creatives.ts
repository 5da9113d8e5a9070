import { CREATIVE_FIELD_NAMES, CREATIVE_FIELDS } from '#contracts/values/media/creatives.ts';
import { creatives } from '#projections/creatives/project.ts';
import { BRAND_REFERENCES, brandsWith, type Fill, run, statementOf } from './fill.ts';
import { FILES, RARE_WORD, SELDOM_WORD } from './seeds.ts';
import { scaled } from '../runner/bench.ts';

const KEY = (n: string): string => `encode(sha256(('file' || ${n})::bytea), 'hex')`;

/** The first value is the most frequent. */
const VALUES = CREATIVE_FIELD_NAMES.map(
  (field, index) =>
    `case when depth = 'described' and bench.u(n, ${100 + index}) < 0.93
      then bench.one_of('{${CREATIVE_FIELDS[field].join()}}', power(bench.u(n, ${120 + index}), 2)) end as ${field}`,
).join();

const TRANSCRIPT = `b.text || '. ' || c.text || '. ' || d.text || '.' || case when f.n % 25000 = 7 then ' ${RARE_WORD}' else '' end
  || case when f.n % 150 = 5 then ' ${SELDOM_WORD}' else '' end`;

const FILES_SQL = `
  select f.*, ${VALUES} from (
    select n, bench.u(n, 91) < 0.45 as is_video,
      case when bench.u(n, 92) < 0.4 then 'described' when bench.u(n, 92) < 0.5 then 'transcribed' end as depth
    from generate_series(1, ${FILES}) n
  ) f`;

const SIZES = `array[1080, 1080, 1080, 720, 1200, 1920, 600]`;

export const fillCreatives: Fill = {
  projection: creatives,
  sql: [
    brandsWith(`${BRAND_REFERENCES}, is_public`),
    `insert into ad (ad_id, brand_id, active, listed_on, format, cta_type)
      select ad_id, brand_id, not ended, listed_on, format, cta_type from bench.ad`,
    `insert into carriage (creative_key, ad_id, creative_id, first_seen_at)
      select creative_key, ad_id, bench.uuid_of(ad_id || '|' || creative_key), listed_on from (
        select ${KEY('file_n')} as creative_key, ad_id, listed_on from bench.ad where file_n is not null
        union
        select ${KEY('other_file_n')}, ad_id, listed_on from bench.ad where other_file_n is not null
      ) c`,
    `insert into file (creative_key, media_kind, content_type, bytes, width, height, duration_seconds, frame_times_seconds,
        media_url, object_key, poster_url, stored_at, measured_at, depth, transcript, language, shown_texts, read_at,
        ${CREATIVE_FIELD_NAMES.join()})
      select ${KEY('f.n')}, case when is_video then 'video' else 'image' end, case when is_video then 'video/mp4' else 'image/jpeg' end,
        20000 + (power(bench.u(f.n, 93), 4) * case when is_video then 80000000 else 3000000 end)::bigint,
        (${SIZES})[1 + (bench.u(f.n, 94) * 6)::int], (${SIZES})[1 + (bench.u(f.n, 95) * 6)::int],
        case when is_video then round((4 + power(bench.u(f.n, 96), 3) * 176)::numeric, 1) end, case when is_video then '[0,3,6]'::jsonb end,
        'https://cdn.example.com/' || md5(f.n::text), 'creatives/' || md5(f.n::text),
        case when is_video then 'https://cdn.example.com/' || md5(f.n::text) || '.jpg' end, now() - bench.u(f.n, 97) * interval '300 days',
        now() - bench.u(f.n, 97) * interval '300 days', depth, case when depth is not null and is_video then ${TRANSCRIPT} end,
        case when depth is not null and is_video then 'en' end,
        case when depth is not null then jsonb_build_array(left(c.text, 40), left(d.text, 30), case when f.n % 300 = 5 then '${SELDOM_WORD}' else 'Shop' end) end,
        case when depth is not null then now() - bench.u(f.n, 98) * interval '100 days' end, ${CREATIVE_FIELD_NAMES.join()}
      from (${FILES_SQL}) f
      join bench.sentence b on b.n = f.n % ${scaled(99_991)} join bench.sentence c on c.n = f.n % ${scaled(99_989)} join bench.sentence d on d.n = f.n % ${scaled(99_971)}`,
    'analyze file; analyze carriage; analyze ad',
    run(statementOf(creatives, 'refresh_file'), 'select creative_key from file'),
  ],
};
