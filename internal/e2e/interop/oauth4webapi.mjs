// Every call that oauth4webapi has for what the service offers.
import assert from 'node:assert/strict'
import { webcrypto } from 'node:crypto'
import { text } from 'node:stream/consumers'
import * as oauth from 'oauth4webapi'

globalThis.crypto ??= webcrypto // Node.js 18 does not have it there yet
const config = JSON.parse(await text(process.stdin))
const issuer = new URL(config.issuer)
const onLoopback = { [oauth.allowInsecureRequests]: true } // http, and never in production
const done = (step) => console.log(step)

const ask = async (path, body) => {
  const answer = await fetch(config.person + path, { method: 'POST', body })
  assert.ok(answer.ok, await answer.clone().text())
  return answer.text()
}

// The service is no OpenID provider: algorithm oauth2 (RFC 8414).
const as = await oauth.processDiscoveryResponse(issuer,
  await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...onLoopback }))
assert.deepEqual(as.code_challenge_methods_supported, ['S256'])
done('discovery')

const resource = await oauth.processResourceDiscoveryResponse(issuer,
  await oauth.resourceDiscoveryRequest(issuer, onLoopback))
assert.deepEqual(resource.authorization_servers, [config.issuer])
done('resource discovery')

const profile = async (token) => (await oauth.protectedResourceRequest(
  token, 'GET', new URL('/profile', as.api_base_url), undefined, undefined, onLoopback)).json()

const refused = async (call, error) => assert.rejects(call, (e) => {
  assert.ok(e instanceof oauth.ResponseBodyError, e)
  assert.equal(e.error, error)
  return true
})

async function connect(client, auth) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const authorize = new URL(as.authorization_endpoint)
  authorize.search = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: config.redirectUri, scope: config.scope, state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })
  const back = oauth.validateAuthResponse(as, client, new URL(await ask('/allow', authorize.href)), state)
  const redeem = () => oauth.authorizationCodeGrantRequest(as, client, auth, back, config.redirectUri, verifier, onLoopback)
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, await redeem())
  assert.equal(tokens.scope, config.scope)
  assert.equal(tokens.expires_in, 3600)
  return { tokens, redeem }
}

async function codeFlow(name, client, auth) {
  const { tokens } = await connect(client, auth)
  assert.equal((await profile(tokens.access_token)).user.name, 'Olive Owner')
  done(name + ' code with PKCE')

  const refresh = (token) => oauth.refreshTokenGrantRequest(as, client, auth, token, onLoopback)
  const renewed = await oauth.processRefreshTokenResponse(as, client, await refresh(tokens.refresh_token))
  assert.notEqual(renewed.refresh_token, tokens.refresh_token)
  assert.equal((await profile(renewed.access_token)).user.name, 'Olive Owner')
  await assert.rejects(profile(tokens.access_token), oauth.WWWAuthenticateChallengeError)
  done(name + ' refresh')

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, auth, renewed.refresh_token, onLoopback))
  await assert.rejects(profile(renewed.access_token), oauth.WWWAuthenticateChallengeError)
  await refused(oauth.processRefreshTokenResponse(as, client, await refresh(renewed.refresh_token)), 'invalid_grant')
  done(name + ' revocation')
}

async function deviceFlow(name, client, auth) {
  const device = await oauth.processDeviceAuthorizationResponse(as, client,
    await oauth.deviceAuthorizationRequest(as, client, auth, { scope: config.scope }, onLoopback))
  const poll = async () => oauth.processDeviceCodeResponse(as, client,
    await oauth.deviceCodeGrantRequest(as, client, auth, device.device_code, onLoopback))
  await refused(poll(), 'authorization_pending')
  await ask('/device', device.user_code)
  const tokens = await poll()
  assert.equal((await profile(tokens.access_token)).business.name, 'Live Ltd')
  done(name + ' device')
}

const web = { client_id: config.web.clientId }
const basic = oauth.ClientSecretBasic(config.web.clientSecret)
const cli = { client_id: config.cli.clientId }
await codeFlow('basic', web, basic)
await codeFlow('post', web, oauth.ClientSecretPost(config.web.clientSecret))
await codeFlow('public', cli, oauth.None())
await deviceFlow('basic', web, basic)
await deviceFlow('public', cli, oauth.None())

{ // A code is redeemed once; the replay ends what it gave.
  const { tokens, redeem } = await connect(web, basic)
  await refused(oauth.processAuthorizationCodeResponse(as, web, await redeem()), 'invalid_grant')
  await assert.rejects(profile(tokens.access_token), oauth.WWWAuthenticateChallengeError)
  done('replay')
}

{ // Introspection takes credentials in the header: ClientSecretBasic.
  const { tokens } = await connect(web, basic)
  const introspect = async (token) => oauth.processIntrospectionResponse(as, web,
    await oauth.introspectionRequest(as, web, basic, token, onLoopback))
  const active = await introspect(tokens.access_token)
  assert.equal(active.active, true)
  assert.equal(active.client_id, web.client_id)
  assert.equal(active.sub, 'usr_owner')
  assert.deepEqual(await introspect('unknown'), { active: false })
  await refused(oauth.processIntrospectionResponse(as, web,
    await oauth.introspectionRequest(as, web, oauth.ClientSecretPost(config.web.clientSecret), tokens.access_token, onLoopback)), 'invalid_client')
  done('introspection')
}

{ // Registration, and the flow as what it made.
  const registered = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(as, {
      client_name: 'Registered', redirect_uris: [config.redirectUri], scope: config.scope, token_endpoint_auth_method: 'client_secret_basic',
    }, onLoopback))
  assert.equal(registered.client_secret_expires_at, 0)
  await codeFlow('registered', registered, oauth.ClientSecretBasic(registered.client_secret))
}

{ // Token exchange has no call of its own: the generic one.
  const { tokens } = await connect(web, basic)
  assert.ok(tokens.access_token)
  const sessionToken = await ask('/session-token', '')
  const exchange = async () => oauth.processGenericTokenEndpointResponse(as, web,
    await oauth.genericTokenEndpointRequest(as, web, basic, 'urn:ietf:params:oauth:grant-type:token-exchange', {
      subject_token: sessionToken, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }, onLoopback))
  const exchanged = await exchange()
  assert.equal(exchanged.issued_token_type, 'urn:ietf:params:oauth:token-type:access_token')
  assert.equal((await profile(exchanged.access_token)).business.name, 'Live Ltd')
  await refused(exchange(), 'invalid_grant')
  done('token exchange')
}
