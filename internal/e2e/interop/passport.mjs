// passport-oauth2 behind a server of Node.js, as its README has it, with sessions that
// are just enough.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'

const config = JSON.parse(await text(process.stdin))
const redirect = new URL(config.redirectUri)
const metadata = await (await fetch(config.issuer + '/.well-known/oauth-authorization-server')).json()

// passport-oauth2 knows where things are by its options alone.
function strategyOf(name, app) {
  const strategy = new OAuth2Strategy({
    authorizationURL: metadata.authorization_endpoint,
    tokenURL: metadata.token_endpoint,
    clientID: app.clientId,
    clientSecret: app.clientSecret, // none for a public app
    callbackURL: config.redirectUri,
    scope: config.scope.split(' '),
    pkce: true, // S256
    state: true, // which pkce asks for
  }, (accessToken, refreshToken, params, profile, done) => done(null, { accessToken, refreshToken, params, profile }))
  strategy.userProfile = function (accessToken, done) {
    this._oauth2.useAuthorizationHeaderforGET(true) // by default it puts the token into the query
    this._oauth2.get(config.issuer + '/profile', accessToken, (err, body) => done(err, err ? undefined : JSON.parse(body)))
  }
  passport.use(name, strategy)
  return strategy
}

const sessions = new Map()
const server = createServer((req, res) => {
  const id = /sid=(\w+)/.exec(req.headers.cookie ?? '')?.[1] ?? String(sessions.size)
  if (!sessions.has(id)) sessions.set(id, {})
  req.session = sessions.get(id)
  req.query = Object.fromEntries(new URL(req.url, redirect).searchParams)
  res.setHeader('Set-Cookie', 'sid=' + id)
  const name = req.session.name ??= req.query.app
  passport.authenticate(name, { session: false })(req, res, (err) => {
    res.statusCode = err ? 500 : 200
    res.end(err ? String(err.stack) : JSON.stringify(req.user))
  })
}).listen(redirect.port, redirect.hostname)

const ask = async (path, body) => {
  const answer = await fetch(config.person + path, { method: 'POST', body })
  assert.ok(answer.ok, await answer.clone().text())
  return answer.text()
}

async function flow(name, app) {
  const strategy = strategyOf(name, app)
  const first = await fetch(redirect.origin + '/login?app=' + name, { redirect: 'manual' })
  const cookie = first.headers.get('set-cookie')
  const back = await ask('/allow', first.headers.get('location'))
  const forged = await fetch(back.replace(/state=[^&]*/, 'state=forged'), { headers: { cookie } })
  assert.equal(forged.status, 403)
  const again = await fetch(redirect.origin + '/login?app=' + name, { redirect: 'manual', headers: { cookie } })
  const answer = await fetch(await ask('/allow', again.headers.get('location')), { headers: { cookie } })
  const said = await answer.text()
  assert.equal(answer.status, 200, said)
  const { accessToken, refreshToken, params, profile } = JSON.parse(said)
  assert.equal(params.scope, config.scope)
  assert.equal(profile.user.name, 'Olive Owner')
  console.log(name + ' code with PKCE')

  // The library below passport-oauth2 refreshes; to revoke is a form post.
  const renewed = await new Promise((resolve, reject) =>
    strategy._oauth2.getOAuthAccessToken(refreshToken, { grant_type: 'refresh_token' },
      (err, access, refresh) => err ? reject(err) : resolve({ access, refresh })))
  assert.notEqual(renewed.refresh, refreshToken)
  const old = await fetch(config.issuer + '/profile', { headers: { authorization: 'Bearer ' + accessToken } })
  assert.equal(old.status, 401)
  console.log(name + ' refresh')

  const revoked = await fetch(metadata.revocation_endpoint, {
    method: 'POST',
    body: new URLSearchParams({ token: renewed.refresh, client_id: app.clientId, ...(app.clientSecret && { client_secret: app.clientSecret }) }),
  })
  assert.equal(revoked.status, 200)
  await assert.rejects(new Promise((resolve, reject) =>
    strategy.userProfile(renewed.access, (err) => err ? reject(err) : resolve())), { statusCode: 401 })
  console.log(name + ' revocation, without its help')
}

await flow('confidential', config.web)
await flow('public', config.cli)
server.close()
server.closeAllConnections()
