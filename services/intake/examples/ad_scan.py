"""Example of a collector in Python, with the standard library only.

Sends ads that another program has seen, and their pictures, to the intake as a library scan:

    python3 services/intake/examples/ad_scan.py INTAKE_URL NAME KEY_FILE SCAN_FILE
    python3 services/intake/examples/ad_scan.py INTAKE_URL NAME KEY_FILE --tasks FOLDER

With --tasks it leases the brands that are due and sends FOLDER/DOMAIN.json for each; a brand without a file fails.
NAME is the name of the key; KEY_FILE holds the key, because other users of the machine can read arguments. A scan file is
JSON: {"brand_domain", "scanned_at", "page_id", "page_name", "countries", "complete", "ads"}. An ad has "ad_id" and may
have "body", "title", "link_url", "cta_text", "format", "started_on", "is_active" and "image", the path of a picture.

The scan id follows from the content, so sending a file again records nothing twice.
"""

import gzip
import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

# Namespace of the scan ids of this collector. Use one of your own: uuid.uuid4().
NAMESPACE = uuid.UUID("0d7cbf0a-2f6c-4b8e-8d0f-52a7d4a0c9e1")
ADS_PER_LINE = 100
LINES_PER_REQUEST = 20
TIMEOUT_SECONDS = 30
ATTEMPTS = 5
RETRY_SECONDS = 5
TASKS_PER_REQUEST = 5
REASON_MAX_LENGTH = 500


def call(method, url, key, body, headers):
    """Sends a request, again after the time that the intake names. Returns the parsed reply."""
    for attempt in range(1, ATTEMPTS + 1):
        request = urllib.request.Request(url, data=body, method=method)
        request.add_header("authorization", "Bearer " + key)
        for name, value in headers.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == ATTEMPTS:
                sys.exit("The intake answered %d: %s" % (error.code, error.read().decode("utf-8", "replace")))
            time.sleep(float(error.headers.get("retry-after", RETRY_SECONDS)))


def send_picture(intake, key, path):
    """Stores a picture under its SHA-256. Returns what the intake knows of it."""
    with open(path, "rb") as file:
        content = file.read()
    sha256 = hashlib.sha256(content).hexdigest()
    headers = {"content-type": "application/octet-stream"}
    return call("PUT", "%s/intake/files/%s" % (intake, sha256), key, content, headers)


def observed_ad(ad, scan):
    """Returns an ad with every field of the schema. None means that this scan did not show the field."""
    return {
        "ad_id": ad["ad_id"],
        "page_id": scan["page_id"],
        "page_name": scan.get("page_name"),
        "is_active": ad.get("is_active"),
        "started_on": ad.get("started_on"),
        "stopped_on": None,
        "body": ad.get("body"),
        "title": ad.get("title"),
        "link_description": None,
        "caption": None,
        "cta_type": None,
        "cta_text": ad.get("cta_text"),
        "link_url": ad.get("link_url"),
        "format": ad.get("format", "other"),
        "platforms": [],
        "languages": [],
        "media": [],
        "cards": [],
        "versions": [],
        "branded_content": None,
    }


def creative_file(picture, ad_ids, scan):
    """Returns the observation that connects a stored picture with its ads."""
    return {
        "type": "creative.file",
        "creative_key": picture["sha256"],
        "observed_at": scan["scanned_at"],
        "ad_ids": ad_ids,
        "media_kind": picture["content_type"].split("/")[0],
        "content_type": picture["content_type"],
        "bytes": picture["bytes"],
        "width": None,
        "height": None,
        "duration_seconds": None,
        "frame_times_seconds": None,
        "media_url": None,
        "object_key": picture["object_key"],
        "poster_url": None,
    }


def scan_lines(scan, name):
    """Returns the chunks of the scan and its end."""
    ads = [observed_ad(ad, scan) for ad in scan["ads"]]
    scan_id = str(uuid.uuid5(NAMESPACE, json.dumps([scan["brand_domain"], scan["scanned_at"], ads], sort_keys=True)))
    key = {"scan_id": scan_id, "brand_domain": scan["brand_domain"], "scanned_at": scan["scanned_at"]}
    starts = range(0, len(ads), ADS_PER_LINE)
    chunks = [
        {"type": "ad_library.scan", **key, "chunk": number, "ads": ads[start : start + ADS_PER_LINE]}
        for number, start in enumerate(starts)
    ]
    coverage = {
        "pages": [{"page_id": scan["page_id"], "page_name": scan.get("page_name")}],
        "countries": scan["countries"],
        "complete": scan["complete"],
        "collector": name + "/example-1",
    }
    return chunks + [{"type": "ad_library.scan_end", **key, "chunks": len(chunks), "coverage": coverage}]


def send_scan(intake, name, key, scan):
    """Sends a scan with its pictures. Returns the number of lines that the intake refused."""
    ads_of_picture = {}
    for ad in scan["ads"]:
        if ad.get("image"):
            ads_of_picture.setdefault(ad["image"], []).append(ad["ad_id"])
    lines = scan_lines(scan, name)
    for path, ad_ids in ads_of_picture.items():
        lines.append(creative_file(send_picture(intake, key, path), ad_ids, scan))

    refused = []
    for start in range(0, len(lines), LINES_PER_REQUEST):
        text = "\n".join(json.dumps(line) for line in lines[start : start + LINES_PER_REQUEST])
        headers = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}
        # Without a time in its head, the same text is packed to the same bytes.
        body = gzip.compress(text.encode("utf-8"), mtime=0)
        refused += call("POST", intake + "/intake/observations", key, body, headers)["refused"]
    for line in refused:
        print(json.dumps(line), file=sys.stderr)
    print("%d ads sent, %d pictures, %d lines refused" % (len(scan["ads"]), len(ads_of_picture), len(refused)))
    return len(refused)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def call_tasks(intake, key, path, content):
    """Asks for tasks, or ends one."""
    body = json.dumps(content).encode("utf-8")
    return call("POST", intake + "/intake/tasks" + path, key, body, {"content-type": "application/json"})


def do_task(intake, name, key, task, folder):
    """Sends the scan of a leased brand. Returns why that failed; None when it is done."""
    try:
        scan = read_json(os.path.join(folder, os.path.basename(task["domain"]) + ".json"))
    except (OSError, ValueError) as error:
        return "no scan: %s" % error
    refused = send_scan(intake, name, key, scan)
    return "%d lines refused" % refused if refused else None


def do_tasks(intake, name, key, folder):
    """Leases due brands until none is left. A task that is not ended comes back when its lease expires."""
    failed = 0
    while True:
        tasks = call_tasks(intake, key, "", {"type": "ad_library.scan", "limit": TASKS_PER_REQUEST})["tasks"]
        if not tasks:
            return failed
        for task in tasks:
            reason = do_task(intake, name, key, task, folder)
            if reason is None:
                call_tasks(intake, key, "/%s/done" % task["id"], {})
                continue
            failed += 1
            print("%s: %s" % (task["domain"], reason), file=sys.stderr)
            call_tasks(intake, key, "/%s/failed" % task["id"], {"reason": reason[:REASON_MAX_LENGTH]})


def main():
    arguments = sys.argv[1:]
    if len(arguments) not in (4, 5) or (len(arguments) == 5) != (arguments[3] == "--tasks"):
        sys.exit("Usage: ad_scan.py INTAKE_URL NAME KEY_FILE (SCAN_FILE | --tasks FOLDER)")
    intake, name, key_file = arguments[:3]
    with open(key_file, encoding="utf-8") as file:
        key = file.read().strip()
    if arguments[3] == "--tasks":
        faults = do_tasks(intake, name, key, arguments[4])
    else:
        faults = send_scan(intake, name, key, read_json(arguments[3]))
    sys.exit(1 if faults else 0)


main()
