// A partner's test in JavaScript: node --test partner.test.mjs, with the sandbox's program in
// SANDBOX. It needs nothing but Node.js 20.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'

const client = { id: 'ledgerlink-sync', secret: 'demo-secret-ledgerlink-sync', redirect: 'http://localhost:9090/callback' }
const business = 'biz_bakery', user = 'usr_ada', developer = 'usr_dev', webhook = 'whk_sync'
const webhookSecret = 'whsec_demo_ledgerlink_sync'
const hour = 3600, day = 24 * hour

const once = (from, event) => new Promise((resolve) => from.once(event, (...values) => resolve(values)))

let program, api, app, received, receiver

before(async () => {
  program = spawn(process.env.SANDBOX, ['-api', 'localhost:0', '-app', 'localhost:0', '-db', ':memory:'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(program.stdout), 'line')
  ;({ api, app } = JSON.parse(line)) // it is ready
  receiver = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ signature: request.headers['x-webhook-signature'], body })
    response.writeHead(500).end() // and fails
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
})

after(() => {
  program.kill()
  receiver.close()
})

async function json(method, url, body, headers = {}) {
  const response = await fetch(url, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } })
  assert.ok(response.ok, `${method} ${url}: ${response.status}`)
  return response.json()
}

// dev makes a call of development mode.
const dev = (path, body) => json('POST', `${api}/dev/${path}`, body)
const advance = async (seconds) => (await dev('clock', { advanceSeconds: seconds })).now
const signIn = async (userId, businessId) => (await dev('sessions', { userId, businessId })).cookie

// token makes a request of the token endpoint, as your client would.
const token = (form) => fetch(`${api}/oauth/token`, {
  method: 'POST', body: new URLSearchParams(form),
  headers: { Authorization: 'Basic ' + Buffer.from(`${client.id}:${client.secret}`).toString('base64') },
})
const refresh = (tokens) => token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
const profile = async (tokens) => (await fetch(`${api}/profile`, { headers: { Authorization: `Bearer ${tokens.access_token}` } })).status

// connect approves the app as a person of the business.
async function connect() {
  const cookie = await signIn(user, business)
  const ask = new URLSearchParams({
    response_type: 'code', client_id: client.id, redirect_uri: client.redirect, scope: 'profile:read events:read invoices:read', state: 'test',
  })
  const page = await (await fetch(`${app}/oauth/authorize?${ask}`, { headers: { Cookie: cookie } })).text()
  const form = new URLSearchParams({ business_id: business, decision: 'allow' })
  for (const [, name, value] of page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) form.append(name, value)
  form.set('business_id', business)
  const decided = await fetch(`${app}/oauth/authorize`, { method: 'POST', body: form, headers: { Cookie: cookie }, redirect: 'manual' })
  const code = new URL(decided.headers.get('location')).searchParams.get('code')
  const response = await token({ grant_type: 'authorization_code', code, redirect_uri: client.redirect })
  assert.equal(response.status, 200)
  return response.json()
}

test('31 days of tokens', async () => {
  let tokens = await connect()
  assert.equal(await profile(tokens), 200)
  await advance(hour)
  assert.equal(await profile(tokens), 401) // the access token has expired
  for (let i = 0; i < 2; i++) {
    tokens = await (await refresh(tokens)).json()
    assert.equal(await profile(tokens), 200)
    await advance(15 * day)
  }
  tokens = await (await refresh(tokens)).json() // after 30 days, each token younger than that
  await advance(31 * day)
  const late = await refresh(tokens)
  assert.equal(late.status, 400)
  assert.equal((await late.json()).error, 'invalid_grant') // connect again
})

test('six attempts of a webhook', async () => {
  await connect()
  received = []
  const cookie = await signIn(developer)
  const hook = `${api}/developer/apps/app_sync/webhooks/${webhook}`
  await json('PATCH', hook, { url: `http://127.0.0.1:${receiver.address().port}/`, events: ['invoice.paid'] }, { Cookie: cookie })
  const { id } = await dev('events', { businessId: business, type: 'invoice.paid', data: { id: 'inv_1' } })
  let now = await advance(0)
  for (const pause of [0, 60, 300, 1800, 2 * hour, 6 * hour]) {
    now = await advance(pause)
    const { signature, body } = received.at(-1)
    const [, time, sum] = signature.match(/^t=(\d+),v1=([0-9a-f]+)/)
    assert.ok(Math.abs(now - time) < 300)
    assert.equal(sum, createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex'))
    assert.equal(JSON.parse(body).eventId, id)
  }
  await advance(day)
  assert.equal(received.length, 6)
  const { data } = await json('GET', `${hook}/deliveries?status=failed`, undefined, { Cookie: cookie })
  assert.equal(data[0].attempts, 6)
})

test('a revoked consent', async () => {
  const tokens = await connect()
  await dev('consents/revoke', { clientId: client.id, businessId: business, userId: user })
  assert.equal(await profile(tokens), 401)
  assert.equal((await (await refresh(tokens)).json()).error, 'invalid_grant')
})

test('a lost refresh response', async () => {
  const tokens = await connect()
  await dev('faults', { route: 'POST /oauth/token', loseResponse: true })
  await assert.rejects(refresh(tokens)) // the token was used, and nobody knows the new one
  assert.equal((await (await refresh(tokens)).json()).error, 'invalid_grant')
  assert.equal(await profile(await connect()), 200) // what your client has to come to
})
