import { createHash, createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { signatureHeaders } from '../../../src/providers/bedrock/sign.ts'
import type { EncodedRequest } from '../../../src/types/model/provider.ts'
import { canaries, request, user } from './call.ts'

interface Vector {
  name: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  signingDate: string
  modelId: string
  url: string
  body: string
  expected: Record<string, string>
}

const folder = fileURLToPath(new URL('../../../../shared/conformance/sigv4', import.meta.url))
const isThere = existsSync(folder)
if (!isThere) console.warn('SKIPPED: the SigV4 vectors of AWS, because ../shared/conformance is absent')

const vectors: Vector[] = isThere ? JSON.parse(readFileSync(`${folder}/bedrock-converse.json`, 'utf8')).vectors : []
const suite = isThere
  ? readdirSync(`${folder}/aws4_testsuite`).filter((name) => existsSync(`${folder}/aws4_testsuite/${name}/${name}.req`))
  : []

const clock = (at: string): void => void vi.setSystemTime(new Date(at))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe.skipIf(!isThere)('signatureHeaders with recorded Bedrock requests', () => {
  it.each(vectors.length === 0 ? ['absent'] : vectors.map(({ name }) => name))('signs %s', async (name) => {
    const vector = vectors.find((each) => each.name === name)
    if (vector === undefined) throw new Error('no such vector')
    const { region, credentials, modelId, url, body, expected } = vector
    clock(vector.signingDate)
    const headers = { 'content-type': 'application/json' }
    expect(await signatureHeaders({ url, headers, body }, credentials, region)).toEqual(expected)

    // The factory leads to the same address, with the same scope and the same signed headers.
    const model = bedrock(modelId, { region, ...credentials })
    const key = await model.credentials?.current(new AbortController().signal)
    const encoded = await model.provider.encode({ ...request(modelId, {}, { region }), credential: key ?? '' })
    expect(encoded.url).toBe(url)
    const unsigned = (authorization: string | undefined) => authorization?.replace(/Signature=.*/, '')
    expect(unsigned(encoded.headers.authorization)).toBe(unsigned(expected.authorization))
    expect(encoded.headers['x-amz-security-token']).toBe(expected['x-amz-security-token'])
  })
})

/** Do not apply: a header twice, or folded over lines. `fetch` sends one line per name, with ", " between the values. */
const outOfScope = ['get-header-key-duplicate', 'get-header-value-order', 'get-header-value-multiline']

describe.skipIf(!isThere)('signatureHeaders with the AWS test suite', () => {
  it.each(suite.length === 0 ? ['absent'] : suite.filter((name) => !outOfScope.includes(name)))('signs %s', async (name) => {
    const read = (kind: string): string => readFileSync(`${folder}/aws4_testsuite/${name}/${name}.${kind}`, 'utf8').replaceAll('\r\n', '\n')
    const [head = '', body = ''] = read('req').split('\n\n')
    const [first = '', ...lines] = head.split('\n')
    const [, method = '', path = ''] = /^(\S+) (.*) HTTP\/1\.1$/.exec(first) ?? []
    const headers = lines
      .filter((line) => line !== '' && !/^(host|x-amz-date):/i.test(line))
      .map((line): [string, string] => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon), line.slice(colon + 1)]
      })
    const sessionToken = /^x-amz-security-token:\s*(.+)$/im.exec(read('sreq'))?.[1]
    const signer = new AwsV4Signer({
      ...(sessionToken === undefined ? {} : { sessionToken }),
      method,
      url: `https://example.amazonaws.com${path}`,
      headers,
      body,
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      service: 'service',
      region: 'us-east-1',
      datetime: '20150830T123600Z',
      allHeaders: true,
      singleEncode: true,
    })
    expect((await signer.sign()).headers.get('authorization')).toBe(read('authz').trim())
  })
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** What AWS computes from what it received: the signature by the rules of the documentation, with Node's cryptography. */
function signatureOf({ url, headers, body }: EncodedRequest, secret: string): string {
  const [, date = '', region = '', signed = ''] =
    /Credential=[^/]+\/(\d+)\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([^,]+),/.exec(headers.authorization ?? '') ?? []
  const { host, pathname } = new URL(url)
  const path = pathname
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`))
    .join('/')
  const values = signed
    .split(';')
    .map((name) => `${name}:${(name === 'host' ? host : (headers[name] ?? '')).trim().replace(/\s+/g, ' ')}\n`)
  const canonical = ['POST', path, '', values.join(''), signed, sha256(body)].join('\n')
  const scope = `${date}/${region}/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [date, region, 'bedrock', 'aws4_request'].reduce<string | Buffer>((derived, part) => hmac(derived, part), `AWS4${secret}`)
  return hmac(key, toSign).toString('hex')
}

describe('the signed request', () => {
  it('signs exactly the sent URL, headers and body', async () => {
    clock('2026-11-21T10:11:12.345Z')
    const id = fc.constantFrom(
      'amazon.nova-lite-v1:0',
      'us.anthropic.claude-opus-4-6-v1',
      'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1',
      "odd id!*'()é",
    )
    await fc.assert(
      fc.asyncProperty(
        id,
        fc.string({ unit: 'binary' }),
        fc.constantFrom('https://proxy.example', 'http://127.0.0.1:8080/a%20b', undefined),
        async (model, text, baseUrl) => {
          const made = request(model, { messages: [user(`x${text}`)] }, baseUrl === undefined ? {} : { baseUrl })
          const encoded = await bedrock(model).provider.encode(made)
          expect(encoded.headers['x-amz-date']).toBe('20261121T101112Z')
          expect(encoded.headers['x-amz-content-sha256']).toBe(sha256(encoded.body))
          expect(encoded.headers.authorization).toContain(`Signature=${signatureOf(encoded, canaries[1])}`)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('signs AWS headers but no proxy headers', async () => {
    const headers = { 'X-Gateway': 'a', 'X-Amzn-Bedrock-GuardrailIdentifier': 'g' }
    const encoded = await bedrock('amazon.nova-lite-v1:0').provider.encode(request('amazon.nova-lite-v1:0', {}, { headers }))
    expect(encoded.headers).toMatchObject({ 'x-gateway': 'a', 'x-amzn-bedrock-guardrailidentifier': 'g' })
    expect(encoded.headers.authorization).toMatch(
      /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amzn-bedrock-guardrailidentifier,/,
    )
    expect(encoded.headers.authorization).toContain(`Signature=${signatureOf(encoded, canaries[1])}`)
  })

  it('sends a key without a colon as a bearer token', async () => {
    const encoded = await bedrock('amazon.nova-lite-v1:0').provider.encode(
      request('amazon.nova-lite-v1:0', { credential: ' ABSKbearer+/key== ' }),
    )
    expect(encoded.headers).toEqual({ 'content-type': 'application/json', authorization: 'Bearer ABSKbearer+/key==' })
    expect(encoded.redactedHeaders).toEqual({ 'content-type': 'application/json', authorization: '[redacted]' })
  })

  it('sends no authorization without a key, so that a proxy can add it', async () => {
    const { credential: _, ...made } = request('amazon.nova-lite-v1:0')
    expect((await bedrock('amazon.nova-lite-v1:0').provider.encode(made)).headers).toEqual({ 'content-type': 'application/json' })
  })

  it('redacts the key in the headers and the body', async () => {
    const { redactedHeaders, body } = await bedrock('x.y').provider.encode(request('x.y'))
    for (const canary of canaries) expect(JSON.stringify(redactedHeaders) + body).not.toContain(canary)
  })

  it('requires WebCrypto, and names it in the error', async () => {
    vi.stubGlobal('crypto', {})
    try {
      await expect(bedrock('x.y').provider.encode(request('x.y'))).rejects.toMatchObject({
        code: 'other',
        message: expect.stringContaining('https'),
      })
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it.each(['a:b:two\nlines', 'naïve:secret', 'bearer with spaces'])(
    'rejects an invalid header value as key before sending: %j',
    async (credential) => {
      const encoded = bedrock('x.y').provider.encode(request('x.y', { credential }))
      await expect(encoded).rejects.toMatchObject({ code: 'other', message: expect.stringContaining('API key') })
    },
  )
})
