"""A partner's test in Python: python3 -m unittest test_partner, with the sandbox's program in
SANDBOX. It needs nothing but Python 3.9."""

import base64, hashlib, hmac, html, http.client, http.server, json, os, re, subprocess, threading, unittest, urllib.parse

CLIENT, SECRET, REDIRECT = "ledgerlink-sync", "demo-secret-ledgerlink-sync", "http://localhost:9090/callback"
BUSINESS, USER, DEVELOPER = "biz_bakery", "usr_ada", "usr_dev"
WEBHOOK_SECRET = "whsec_demo_ledgerlink_sync"
HOUR, DAY = 3600, 24 * 3600


class Receiver(http.server.BaseHTTPRequestHandler):
    """Receives webhooks, and fails."""

    received = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.headers["X-Webhook-Signature"], body))
        self.send_response(500)
        self.end_headers()

    def log_message(self, *_):
        pass


def send(method, url, body=None, **headers):
    """Sends a request without following redirects; returns status, headers and body."""
    where = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=30)
    try:
        connection.request(method, where.path + ("?" + where.query if where.query else ""), body, {k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


class Partner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = subprocess.Popen([os.environ["SANDBOX"], "-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        ready = json.loads(cls.program.stdout.readline())
        cls.api, cls.app = ready["api"], ready["app"]
        cls.receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=cls.receiver.serve_forever, args=(0.01,), daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.receiver.shutdown()
        cls.receiver.server_close()
        cls.program.terminate()
        cls.program.wait()
        cls.program.stdout.close()

    def json(self, method, url, body=None, **headers):
        status, _, text = send(method, url, json.dumps(body), Content_Type="application/json", **headers)
        self.assertLess(status, 300, text)
        return json.loads(text)

    def dev(self, path, **body):
        """Makes a call of development mode."""
        return self.json("POST", self.api + "/dev/" + path, body)

    def advance(self, seconds):
        return self.dev("clock", advanceSeconds=seconds)["now"]

    def token(self, **form):
        """Makes a request of the token endpoint, as your client would."""
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        status, _, body = send("POST", self.api + "/oauth/token", urllib.parse.urlencode(form),
                               Authorization="Basic " + basic, Content_Type="application/x-www-form-urlencoded")
        return status, json.loads(body)

    def refresh(self, tokens):
        return self.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])

    def profile(self, tokens):
        return send("GET", self.api + "/profile", Authorization="Bearer " + tokens["access_token"])[0]

    def connect(self):
        """Approves the app as a person of the business."""
        cookie = self.dev("sessions", userId=USER, businessId=BUSINESS)["cookie"]
        ask = urllib.parse.urlencode({"response_type": "code", "client_id": CLIENT, "redirect_uri": REDIRECT,
                                      "scope": "profile:read events:read invoices:read", "state": "test"})
        page = send("GET", f"{self.app}/oauth/authorize?{ask}", Cookie=cookie)[2].decode()
        form = {html.unescape(name): html.unescape(value) for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)}
        form.update(business_id=BUSINESS, decision="allow")
        _, headers, _ = send("POST", self.app + "/oauth/authorize", urllib.parse.urlencode(form), Cookie=cookie, Content_Type="application/x-www-form-urlencoded")
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(headers["Location"]).query)["code"][0]
        status, tokens = self.token(grant_type="authorization_code", code=code, redirect_uri=REDIRECT)
        self.assertEqual(status, 200)
        return tokens

    def test_31_days_of_tokens(self):
        tokens = self.connect()
        self.assertEqual(self.profile(tokens), 200)
        self.advance(HOUR)
        self.assertEqual(self.profile(tokens), 401)  # the access token has expired
        for _ in range(2):
            _, tokens = self.refresh(tokens)
            self.assertEqual(self.profile(tokens), 200)
            self.advance(15 * DAY)
        _, tokens = self.refresh(tokens)  # after 30 days, each token younger than that
        self.advance(31 * DAY)
        status, error = self.refresh(tokens)
        self.assertEqual((status, error["error"]), (400, "invalid_grant"))  # connect again

    def test_six_attempts_of_a_webhook(self):
        self.connect()
        Receiver.received.clear()
        cookie = self.dev("sessions", userId=DEVELOPER)["cookie"]
        hook = self.api + "/developer/apps/app_sync/webhooks/whk_sync"
        self.json("PATCH", hook, {"url": f"http://127.0.0.1:{self.receiver.server_port}/", "events": ["invoice.paid"]}, Cookie=cookie)
        event = self.dev("events", businessId=BUSINESS, type="invoice.paid", data={"id": "inv_1"})["id"]
        for pause in (0, 60, 300, 1800, 2 * HOUR, 6 * HOUR):
            now = self.advance(pause)
            signature, body = Receiver.received[-1]
            time, sum = re.match(r"t=(\d+),v1=([0-9a-f]+)", signature).groups()
            self.assertLess(abs(now - int(time)), 300)
            self.assertEqual(sum, hmac.new(WEBHOOK_SECRET.encode(), time.encode() + b"." + body, hashlib.sha256).hexdigest())
            self.assertEqual(json.loads(body)["eventId"], event)
        self.advance(DAY)
        self.assertEqual(len(Receiver.received), 6)
        self.assertEqual(self.json("GET", hook + "/deliveries?status=failed", Cookie=cookie)["data"][0]["attempts"], 6)

    def test_a_revoked_consent(self):
        tokens = self.connect()
        self.dev("consents/revoke", clientId=CLIENT, businessId=BUSINESS, userId=USER)
        self.assertEqual(self.profile(tokens), 401)
        self.assertEqual(self.refresh(tokens)[1]["error"], "invalid_grant")

    def test_a_lost_refresh_response(self):
        tokens = self.connect()
        self.dev("faults", route="POST /oauth/token", loseResponse=True)
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.refresh(tokens)  # the token was used, and nobody knows the new one
        self.assertEqual(self.refresh(tokens)[1]["error"], "invalid_grant")
        self.assertEqual(self.profile(self.connect()), 200)  # what your client has to come to


if __name__ == "__main__":
    unittest.main()
