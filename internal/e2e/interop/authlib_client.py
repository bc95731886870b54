"""Authlib's session for requests, with every call that it has for what the service offers."""

import json
import os
import sys

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session, OAuthError
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # http on loopback, and never in production
config = json.load(sys.stdin)


def ask(path, body):
    answer = requests.post(config["person"] + path, data=body.encode())
    assert answer.ok, answer.text
    return answer.text


def refused(call, error):
    try:
        call()
    except OAuthError as e:
        assert e.error == error, e
    else:
        raise AssertionError("it was not refused")


metadata = AuthorizationServerMetadata(requests.get(get_well_known_url(config["issuer"], external=True)).json())
metadata.validate()
print("discovery")
profile = config["issuer"] + "/profile"


def session_of(app, **options):
    kept = []
    session = OAuth2Session(
        app["clientId"],
        app.get("clientSecret"),
        scope=config["scope"],
        redirect_uri=config["redirectUri"],
        code_challenge_method="S256",  # without it there is no PKCE, verifier or not
        token_endpoint=metadata["token_endpoint"],  # for refreshing by itself
        update_token=lambda token, refresh_token=None, access_token=None: kept.append(token),
        **options,
    )
    return session, kept


def connect(session):
    verifier = generate_token(48)
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    back = ask("/allow", url)
    token = session.fetch_token(authorization_response=back, state=state, code_verifier=verifier)
    assert token["scope"] == config["scope"], token
    assert session.get(profile).json()["user"]["name"] == "Olive Owner"
    return back, state, verifier


def without_challenge():
    session = OAuth2Session(config["web"]["clientId"], config["web"]["clientSecret"], scope=config["scope"], redirect_uri=config["redirectUri"])
    verifier = generate_token(48)
    url, _ = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    back = ask("/allow", url)
    refused(lambda: session.fetch_token(metadata["token_endpoint"], authorization_response=back, code_verifier=verifier), "invalid_grant")
    print("refused without code_challenge_method")


def flow(name, app, **options):
    session, kept = session_of(app, **options)
    back, state, verifier = connect(session)
    print(name, "code with PKCE")

    first = dict(session.token)
    session.refresh_token(metadata["token_endpoint"])
    assert kept[-1]["refresh_token"] != first["refresh_token"]
    assert session.get(profile).ok
    session.token["expires_at"] = 1  # as if the hour were over
    assert session.get(profile).ok
    assert len(kept) == 2, "the next call refreshes by itself"
    print(name, "refresh")

    last = dict(session.token)
    assert session.revoke_token(metadata["revocation_endpoint"], last["refresh_token"], "refresh_token").status_code == 200
    refused(lambda: session.refresh_token(metadata["token_endpoint"], last["refresh_token"]), "invalid_grant")
    print(name, "revocation")


def device(name, app):
    session, _ = session_of(app)
    # The first request is a form post: Authlib has no call for it, but authenticates it.
    started = session.post(
        metadata["device_authorization_endpoint"],
        data={"scope": config["scope"]},  # auth adds client_id, and twice would be refused
        auth=session.client_auth(session.token_endpoint_auth_method),
        withhold_token=True,
    ).json()

    def poll():
        return session.fetch_token(grant_type="urn:ietf:params:oauth:grant-type:device_code", device_code=started["device_code"])

    refused(poll, "authorization_pending")
    ask("/device", started["user_code"])
    poll()
    assert session.get(profile).json()["business"]["name"] == "Live Ltd"
    print(name, "device")


flow("basic", config["web"])
flow("post", config["web"], token_endpoint_auth_method="client_secret_post", revocation_endpoint_auth_method="client_secret_post")
flow("public", config["cli"])
device("basic", config["web"])
device("public", config["cli"])

session, _ = session_of(config["web"])
connect(session)
active = session.introspect_token(metadata["introspection_endpoint"], session.token["access_token"]).json()
assert active["active"] and active["client_id"] == config["web"]["clientId"], active
by_post, _ = session_of(config["web"], revocation_endpoint_auth_method="client_secret_post")
assert by_post.introspect_token(metadata["introspection_endpoint"], session.token["access_token"]).status_code == 401
print("introspection")
without_challenge()
