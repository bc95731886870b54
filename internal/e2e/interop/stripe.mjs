// What Stripe's receivers say to a delivery of the service's.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'

const { header, body, secret, other } = JSON.parse(await text(process.stdin))
const { webhooks, errors } = new Stripe('sk_unused') // no call is made
const refused = (...args) => assert.throws(() => webhooks.constructEvent(...args), errors.StripeSignatureVerificationError)

const event = webhooks.constructEvent(body, header, secret)
assert.equal(event.type, 'invoice.paid')
assert.equal((await webhooks.constructEventAsync(Buffer.from(body), header, secret)).id, event.id)
console.log('accepted')

refused(body + ' ', header, secret)
refused(body, header, other)
refused(body, header, secret.replace('whsec_', ''))
refused(body, '', secret)
console.log('refused')

const anHour = 3600
refused(body, header, secret, 300, undefined, Date.now() + anHour * 1000)
assert.ok(webhooks.constructEvent(body, header, secret, 2 * anHour, undefined, Date.now() + anHour * 1000))
console.log('refused when old')

console.log('signed: ' + webhooks.generateTestHeaderString({ payload: body, secret }))
