// The client of the MCP TypeScript SDK, from the first 401 to a tool's result. It reads
// {"server", "person"} from standard input: the URL of the MCP endpoint, and one that takes
// an authorization URL and answers where the browser was sent. POST <person>/expire ends
// all access tokens. It prints a line for each step that went well.
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';

const { server, person } = JSON.parse(await text(process.stdin));
const post = async (path, body) => {
  const response = await fetch(person + path, { method: 'POST', body });
  assert.equal(response.status, 200, await response.clone().text());
  return response.text();
};

// provider keeps what the SDK asks it to keep, and sends the person to the consent page.
const provider = {
  redirectUrl: 'http://localhost:8788/oauth/callback',
  clientMetadata: {
    client_name: 'TypeScript agent',
    redirect_uris: ['http://localhost:8788/oauth/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => provider.client,
  saveClientInformation: (client) => { provider.client = client; },
  // Version 1 of the SDK refreshes before it asks for a further scope, and gives up because
  // a refresh adds none (modelcontextprotocol/typescript-sdk#2255). Without a refresh token
  // it asks the person.
  tokens: () => provider.steppingUp ? { ...provider.kept, refresh_token: undefined } : provider.kept,
  saveTokens: (tokens) => { provider.kept = tokens; provider.saved.push(tokens); provider.steppingUp = false; },
  saved: [],
  saveCodeVerifier: (verifier) => { provider.verifier = verifier; },
  codeVerifier: () => provider.verifier,
  redirectToAuthorization: async (url) => {
    provider.asked.push(url.searchParams.get('scope'));
    provider.resources.push(url.searchParams.get('resource'));
    provider.code = new URL(await post('/approve', url.href)).searchParams.get('code');
  },
  asked: [],
  resources: [],
};

const watched = async (url, init) => {
  const response = await fetch(url, init);
  if (response.status === 403 && /insufficient_scope/.test(response.headers.get('www-authenticate') ?? '')) {
    provider.steppingUp = true;
  }
  return response;
};

// connect returns a client over a new transport, as an app does after its user came back.
async function connect() {
  const transport = new StreamableHTTPClientTransport(new URL(server), { authProvider: provider, fetch: watched });
  const client = new Client({ name: 'typescript-agent', version: '1.0.0' });
  await client.connect(transport);
  return { client, transport };
}

// authorized does something again after the person has approved what it asked for.
async function authorized(transport, action) {
  try {
    return await action();
  } catch (error) {
    assert.ok(error instanceof UnauthorizedError, String(error));
    await transport.finishAuth(provider.code);
    return action();
  }
}

const sorted = (scope) => scope.split(' ').sort().join(' ');
const result = (called) => {
  assert.ok(!called.isError, JSON.stringify(called));
  return called.structuredContent;
};

const first = new StreamableHTTPClientTransport(new URL(server), { authProvider: provider, fetch: watched });
await assert.rejects(new Client({ name: 'typescript-agent', version: '1.0.0' }).connect(first), UnauthorizedError);
await first.finishAuth(provider.code);
assert.equal(sorted(provider.asked[0]), 'customers:read invoices:read payments:read');
assert.deepEqual(provider.resources, [server]);
console.log('authorization');

const { client, transport } = await connect();
assert.equal((await client.listTools()).tools.length, 9);
const before = result(await client.callTool({ name: 'list_invoices', arguments: { limit: 100 } })).data.length;
console.log('tool');

const create = () => client.callTool({ name: 'create_invoice', arguments: { number: 'T-1', currency: 'EUR', total: 4200, idempotencyKey: 't1' } });
const made = result(await authorized(transport, create));
assert.equal(sorted(provider.asked[1]), 'customers:read invoices:read invoices:write payments:read');
console.log('step-up');

const again = result(await create());
assert.equal(again.id, made.id);
assert.equal(result(await client.callTool({ name: 'list_invoices', arguments: { limit: 100 } })).data.length, before + 1);
console.log('idempotency');

const issued = provider.saved.length;
await post('/expire', '');
assert.equal(result(await client.callTool({ name: 'get_invoice', arguments: { id: made.id } })).id, made.id);
assert.equal(provider.saved.length, issued + 1);
assert.equal(provider.asked.length, 2); // nobody was asked again
console.log('refresh');

const missing = await client.callTool({ name: 'get_invoice', arguments: { id: 'inv_nope' } });
assert.ok(missing.isError && JSON.parse(missing.content[0].text).statusCode === 404);
console.log('error');
await client.close();
