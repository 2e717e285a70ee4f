import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { answering, canaries, claude, credential, frame, request, streamed } from './call.ts'

function refusing(status: number, body: unknown, headers: Record<string, string> = {}): typeof fetch {
  return async () => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
}

async function failure(fetch: typeof globalThis.fetch, made = request(claude)): Promise<ProviderError> {
  const { error } = await streamed(fetch, made)
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${inspect(error)}`)
  return error
}

const errorType = (name: string) => ({ 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/` })

describe('an HTTP error', () => {
  it.each<[number, string, unknown, string, boolean, RegExp]>([
    [
      403,
      'AccessDeniedException',
      { message: 'You do not have access to the model.' },
      'auth',
      false,
      /refused access at \S+ \(403\): You do not have access to the model\. Check the key/,
    ],
    [403, 'ExpiredTokenException', { Message: 'The security token is expired' }, 'auth', false, /session token has expired/],
    [403, 'ExpiredToken', { message: 'no' }, 'auth', false, /session token has expired/],
    [
      400,
      'UnrecognizedClientException',
      { message: 'The security token included in the request is expired' },
      'auth',
      false,
      /token has expired/,
    ],
    [
      403,
      'InvalidSignatureException',
      { message: 'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key.' },
      'auth',
      false,
      /signature does not match.*secretAccessKey and region/,
    ],
    [403, 'SignatureDoesNotMatch', { message: 'no' }, 'auth', false, /signature does not match/],
    [
      403,
      'InvalidSignatureException',
      { message: 'Signature expired: 20261129T070000Z is now earlier than 20261129T072000Z' },
      'auth',
      false,
      /signature has expired: the system clock/,
    ],
    [
      403,
      'UnrecognizedClientException',
      { message: 'The security token is invalid' },
      'auth',
      false,
      /API key at \S+ \(403\)\. Check the key/,
    ],
    [429, 'ThrottlingException', { message: 'Too many tokens, please wait before trying again.' }, 'rateLimited', true, /rate limiting/],
    [400, 'ThrottlingException', { message: 'Too many tokens, please wait before trying again.' }, 'rateLimited', true, /rate limiting/],
    [400, 'ValidationException', { message: 'Input is too long for requested model.' }, 'contextOverflow', false, /too long/],
    [400, 'ValidationException', { message: 'The text field in the ContentBlock object is blank' }, 'api', false, /blank/],
    [404, 'ResourceNotFoundException', { message: 'This model version has reached the end of its life.' }, 'api', false, /end of its life/],
    [408, 'ModelTimeoutException', { message: 'm' }, 'api', true, /408/],
    [424, 'ModelErrorException', { message: 'm' }, 'api', false, /424/],
    [429, 'ModelNotReadyException', { message: 'm' }, 'rateLimited', true, /429/],
    [500, 'InternalServerException', { message: 'm' }, 'api', true, /500/],
    [503, 'ServiceUnavailableException', { message: 'm' }, 'api', true, /503/],
  ])('classifies %i %s %j', async (status, type, body, code, isRetryable, message) => {
    const error = await failure(refusing(status, body, errorType(type)))
    expect(error).toMatchObject({ code, isRetryable, status })
    expect(error.message).toMatch(message)
  })

  it.each(["isn't", 'isn’t'])('explains that a model id lacks a region prefix (%s)', async (not) => {
    const message = `Invocation of model ID anthropic.claude-opus-4-6-v1 with on-demand throughput ${not} supported. Retry your request with the ID or ARN of an inference profile that contains this model.`
    const error = await failure(refusing(400, { message }, errorType('ValidationException')))
    expect(error).toMatchObject({ code: 'api', isRetryable: false })
    expect(error.message).toMatch(
      /an inference profile that contains this model\. Prefix the model id with the region of an inference profile \(us\., eu\., global\.\)/,
    )
  })
})

describe('the key in Bedrock errors', () => {
  const echo = `${credential} and ${canaries.join(' and ')}`
  const leaks: [string, typeof fetch][] = [
    [
      'an echo of the signed string',
      refusing(403, { message: `The Canonical String should have been x-amz-security-token:${canaries[2]}, not ${echo}` }),
    ],
    ['a runtime error that quotes headers', () => Promise.reject(new TypeError(`bad header ${echo}`, { cause: new Error(echo) }))],
    ['an exception in the stream', answering([frame('validationException', { message: echo })])],
    ['a damaged event', answering([new TextEncoder().encode(echo)])],
    ['an event that is not JSON', answering([new TextEncoder().encode(`${echo}\n`)], 'close', 'application/x-ndjson')],
  ]

  it.each(leaks)('redacts the key in %s', async (_what, fetch) => {
    const error = await failure(fetch)
    const printed = `${inspect(error, { depth: 10, showHidden: true })}${JSON.stringify(error)}${error.message}${error.stack}`
    for (const canary of canaries) expect(printed).not.toContain(canary)
  })
})
