// openid-client, when the response to a refresh is lost.
import assert from 'node:assert/strict'
import { webcrypto } from 'node:crypto'
import { text } from 'node:stream/consumers'
import * as client from 'openid-client'

globalThis.crypto ??= webcrypto // Node.js 18 does not have it there yet
const config = JSON.parse(await text(process.stdin))
const done = (step) => console.log(step)

// The service is no OpenID provider: algorithm oauth2 (RFC 8414). On loopback it has no TLS.
const app = await client.discovery(new URL(config.issuer), config.web.clientId, config.web.clientSecret,
  client.ClientSecretBasic(config.web.clientSecret), { algorithm: 'oauth2', execute: [client.allowInsecureRequests] })
done('discovery')

const pkceCodeVerifier = client.randomPKCECodeVerifier()
const expectedState = client.randomState()
const ask = client.buildAuthorizationUrl(app, {
  redirect_uri: config.redirectUri, scope: config.scope, state: expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier), code_challenge_method: 'S256',
})
const allowed = await fetch(config.person + '/allow', { method: 'POST', body: ask.href })
const tokens = await client.authorizationCodeGrant(app, new URL(await allowed.text()), { pkceCodeVerifier, expectedState })
done('code with PKCE')

const lose = await fetch(config.issuer + '/dev/faults', {
  method: 'POST', headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ route: 'POST /oauth/token', loseResponse: true }),
})
assert.equal(lose.status, 201)
await assert.rejects(client.refreshTokenGrant(app, tokens.refresh_token), (e) => e.error === undefined)
done('an error without a code')

try {
  const renewed = await client.refreshTokenGrant(app, tokens.refresh_token)
  assert.notEqual(renewed.refresh_token, tokens.refresh_token)
  done('again: new tokens')
} catch (e) {
  assert.ok(e instanceof client.ResponseBodyError, e)
  done(`again: ${e.error}`)
}
