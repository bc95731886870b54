// What the JavaScript library of Standard Webhooks says to a delivery of the service's.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const { headers, body, secret, other } = JSON.parse(await text(process.stdin))
const refused = (secret, body, headers) => assert.throws(() => new Webhook(secret).verify(body, headers), WebhookVerificationError)

assert.equal(new Webhook(secret).verify(body, headers).type, 'invoice.paid')
assert.equal(new Webhook('whsec_interop', { format: 'raw' }).verify(body, headers).type, 'invoice.paid')
console.log('accepted')

const names = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
refused(other, body, headers)
refused(secret, body + ' ', headers)
refused(secret, body, { ...names, 'webhook-id': 'dlv_another' })
refused(secret, body, { ...names, 'webhook-timestamp': String(Number(names['webhook-timestamp']) - 3600) })
console.log('refused')
