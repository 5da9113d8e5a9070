"""A day's work with the generated client. Prints what it read as JSON: day.py ADDRESS KEY."""

import json
import sys

import ads
from ads.api.account_api import AccountApi
from ads.api.ads_api import AdsApi
from ads.api.alerts_api import AlertsApi
from ads.api.brands_api import BrandsApi
from ads.api.collections_api import CollectionsApi
from ads.api.notes_api import NotesApi
from ads.api.radar_api import RadarApi
from ads.api.tracked_brands_api import TrackedBrandsApi

configuration = ads.Configuration(host=sys.argv[1])
configuration.access_token = sys.argv[2]
client = ads.ApiClient(configuration)
ws = AccountApi(client).get_me().data.workspace_id
brands_api = BrandsApi(client)

brands, cursor = [], {}
while True:
    page = brands_api.list_brands(limit=2, sort="name", **cursor)
    brands += page.data
    if page.meta.cursor is None:
        break
    cursor = {"cursor": page.meta.cursor}

brand = brands_api.get_brand(brands[0].slug).data
found = AdsApi(client).list_brand_ads(brand.id, limit=10).data
ad = AdsApi(client).get_ad(found[0].id).data

TrackedBrandsApi(client).track_brand(ws, ads.TrackBrand(brand_id=brand.id, cadence="daily"))
tracked = TrackedBrandsApi(client).list_tracked_brands(ws).data

collections = CollectionsApi(client)
board = collections.create_collection(ws, ads.CreateCollection(name="Launches")).data
collections.add_collection_item(ws, board.id, ads.ItemReference(item_type="ad", item_key=ad.id))
NotesApi(client).write_note(ws, ads.WriteNote(subject_type="ad", subject_key=ad.id, body="Grüße"))
items = collections.list_collection_items(ws, board.id).data
notes = NotesApi(client).list_notes(ws, subject_type="ad", subject_key=ad.id).data

radar = RadarApi(client).list_radar(ws, days=30).data
signals = RadarApi(client).list_signals(ws, days=30).data
wanted = ads.CreateAlert(name="Launches", trigger="new_ads", brand_ids=[brand.id], email=True)
rule = AlertsApi(client).create_alert(ws, wanted).data

try:
    brands_api.get_brand("nobody")
    refused = None
except ads.ApiException as error:
    refused = [error.status, json.loads(error.body)["error"]["type"]]

read = {
    "workspace": ws,
    "brands": [one.slug for one in brands],
    "brand": brand.id,
    "ads": [one.id for one in found],
    "ad": ad.id,
    "tracked": [one.brand.id for one in tracked],
    "items": [one.item_key for one in items],
    "notes": [one.body for one in notes],
    "radar": [one.id for one in radar],
    "signals": [one.kind for one in signals],
    "rule": [rule.id, rule.trigger, rule.enabled],
    "refused": refused,
}
print(json.dumps(read))
