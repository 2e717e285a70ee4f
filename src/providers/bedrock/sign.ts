import { AwsV4Signer } from 'aws4fetch'
import { sha256Of } from '../../base/hash.ts'
import { ConfigError, ProviderError } from '../../contract/errors.ts'
import { headerCredential } from '../kit/transport/endpoint.ts'
import { type AwsCredentials, awsCredentialsOf } from './credentials.ts'

const defaultRegion = 'us-east-1'

/** The region of a model: named by its ARN, else by the AWS host it is called at, else `us-east-1`. */
export function bedrockRegion(id: string, baseUrl: string | undefined): string {
  const named = /^arn:[^:]*:[^:]*:([a-z0-9-]+):/.exec(id) ?? /\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseUrl ?? '')
  return named?.[1] ?? defaultRegion
}

/** The public endpoint of a region. Throws `ConfigError` `invalidOption` for what is no region: a key would go to another host. */
export function endpointOf(region: string): string {
  if (!/^[a-z0-9-]+$/.test(region)) {
    throw new ConfigError('invalidOption', `region "${region}" is none of AWS. Give one such as us-east-1.`)
  }
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/** A request before it says who sends it: what a signature is made of. */
export interface Signable {
  url: string
  /** Names in lower case. Those that a proxy may change are left out of the signature. */
  headers: Record<string, string>
  body: string
}

/**
 * The headers that say who sends `request`: a Bedrock API key as it is, or a signature where `credential` is AWS credentials with colons between
 * them. Rejects as `signatureHeaders`.
 */
export async function bedrockAuthHeaders(request: Signable, credential: string, region: string): Promise<Record<string, string>> {
  const aws = awsCredentialsOf(credential)
  if (aws === undefined) return { authorization: `Bearer ${headerCredential('Amazon Bedrock', credential)}` }
  return signatureHeaders(request, aws, region)
}

/**
 * The headers that prove who sends `request` (AWS Signature Version 4, service `bedrock`), valid for five minutes by the clock of AWS.
 *
 * **Contract**
 * - Signed are the method, the path (encoded twice, as AWS asks for), the host, `content-type`, every `x-amz-…` header and the SHA-256 of
 *   exactly this body as UTF-8.
 * - Rejects with `ProviderError` `other` where there is no WebCrypto, and for credentials that no header can carry.
 */
export async function signatureHeaders(request: Signable, credentials: AwsCredentials, region: string): Promise<Record<string, string>> {
  const subtle: SubtleCrypto | undefined = crypto.subtle
  if (subtle === undefined) {
    throw new ProviderError(
      'other',
      'Signing for Amazon Bedrock needs WebCrypto, which pages have on https and localhost only. Use a proxy.',
    )
  }
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const headers: Record<string, string> = {
    'x-amz-content-sha256': await sha256Of(new TextEncoder().encode(request.body)),
  }
  for (const [name, value] of Object.entries(request.headers))
    if (name === 'content-type' || name.startsWith('x-amz')) headers[name] = value
  const signer = new AwsV4Signer({
    method: 'POST',
    url: request.url,
    headers,
    accessKeyId: headerCredential('Amazon Bedrock', accessKeyId),
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken: headerCredential('Amazon Bedrock', sessionToken) }),
    service: 'bedrock',
    region,
    allHeaders: true,
  })
  return Object.fromEntries((await signer.sign()).headers)
}
