"""requests-oauthlib, and oauthlib below it where that has the call."""

import json
import os
import sys

import requests
from oauthlib.oauth2 import InvalidGrantError, WebApplicationClient
from oauthlib.oauth2.rfc8628.clients import DeviceClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # http on loopback, and never in production
config = json.load(sys.stdin)
metadata = requests.get(config["issuer"] + "/.well-known/oauth-authorization-server").json()
profile = config["issuer"] + "/profile"
scope = config["scope"].split()


def ask(path, body):
    answer = requests.post(config["person"] + path, data=body.encode())
    assert answer.ok, answer.text
    return answer.text


def flow(name, app):
    client_id, secret = app["clientId"], app.get("clientSecret")
    # A confidential app says who it is by HTTP Basic, a public one by client_id in the body.
    auth = HTTPBasicAuth(client_id, secret) if secret else None
    client = WebApplicationClient(client_id)
    session = OAuth2Session(client=client, scope=scope, redirect_uri=config["redirectUri"])
    # Versions before 1.4 leave PKCE to us; later ones take pkce="S256".
    verifier = client.create_code_verifier(64)
    challenge = client.create_code_challenge(verifier, "S256")
    url, state = session.authorization_url(metadata["authorization_endpoint"], code_challenge=challenge, code_challenge_method="S256")
    back = ask("/allow", url)
    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=back, auth=auth,
        include_client_id=None if secret else True, code_verifier=verifier,
    )
    assert token.scope_changed is False, token
    assert session.get(profile).json()["user"]["name"] == "Olive Owner"
    print(name, "code with PKCE")

    # When the hour is over it refreshes by itself: with a secret by what the call is given,
    # without one by auto_refresh_kwargs.
    kept = []
    extra = {} if secret else {"client_id": client_id}
    again = OAuth2Session(
        client_id, token={**token, "expires_at": 1}, auto_refresh_url=metadata["token_endpoint"],
        auto_refresh_kwargs=extra, token_updater=kept.append,
    )
    assert again.get(profile, client_id=client_id, client_secret=secret).ok
    assert kept[0]["refresh_token"] != token["refresh_token"]
    assert session.get(profile).status_code == 401, "the old access token went with its refresh"
    print(name, "refresh")

    url, headers, body = client.prepare_token_revocation_request(metadata["revocation_endpoint"], kept[0]["refresh_token"], "refresh_token")
    fields = body if secret else body + "&client_id=" + client_id
    assert requests.post(url, data=fields, headers=headers, auth=auth).status_code == 200
    try:
        again.refresh_token(metadata["token_endpoint"], refresh_token=kept[0]["refresh_token"], auth=auth, **extra)
    except InvalidGrantError as e:
        assert e.description == "revoked", e
    else:
        raise AssertionError("it was not revoked")
    print(name, "revocation")


def device(name, app):
    client_id, secret = app["clientId"], app.get("clientSecret")
    auth = HTTPBasicAuth(client_id, secret) if secret else None
    started = requests.post(metadata["device_authorization_endpoint"], auth=auth, data={"client_id": client_id, "scope": config["scope"]}).json()
    ask("/device", started["user_code"])
    session = OAuth2Session(client=DeviceClient(client_id), scope=scope)
    session.fetch_token(metadata["token_endpoint"], device_code=started["device_code"], auth=auth, include_client_id=None if secret else True)
    assert session.get(profile).json()["business"]["name"] == "Live Ltd"
    print(name, "device")


flow("confidential", config["web"])
flow("public", config["cli"])
device("confidential", config["web"])
device("public", config["cli"])
