import { AwsV4Signer } from 'aws4fetch'
import { sha256Of } from '../../base/hash.ts'
import { ConfigError, ProviderError } from '../../contract/errors.ts'
import { headerCredential } from '../kit/transport/endpoint.ts'
import { type AwsCredentials, awsCredentialsOf } from './credentials.ts'

const defaultRegion = 'us-east-1'

/** Returns a model's region, from its ARN, otherwise from its AWS host, otherwise `us-east-1`. */
export function bedrockRegion(id: string, baseUrl: string | undefined): string {
  const named = /^arn:[^:]*:[^:]*:([a-z0-9-]+):/.exec(id) ?? /\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseUrl ?? '')
  return named?.[1] ?? defaultRegion
}

/**
 * Returns a region's public endpoint. Throws `ConfigError` `invalidOption` for an invalid region, because the key would be sent to another
 * host.
 */
export function endpointOf(region: string): string {
  if (!/^[a-z0-9-]+$/.test(region)) {
    throw new ConfigError('invalidOption', `region "${region}" is not an AWS region. Use one such as us-east-1.`)
  }
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/** A request to sign. */
export interface Signable {
  url: string
  /** Lower-case names. Headers that a proxy may change are not signed. */
  headers: Record<string, string>
  body: string
}

/**
 * Returns the authentication headers of `request`: a Bedrock API key, or a signature if `credential` is AWS credentials joined by colons.
 * Rejects like `signatureHeaders`.
 */
export async function bedrockAuthHeaders(request: Signable, credential: string, region: string): Promise<Record<string, string>> {
  const aws = awsCredentialsOf(credential)
  if (aws === undefined) return { authorization: `Bearer ${headerCredential('Amazon Bedrock', credential)}` }
  return signatureHeaders(request, aws, region)
}

/**
 * Signs `request` (AWS Signature Version 4, service `bedrock`). The signature is valid for five minutes, by the AWS clock.
 *
 * **Contract**
 * - Signs the method, the path (encoded twice, as AWS requires), the host, `content-type`, every `x-amz-…` header and the SHA-256 of the
 *   body as UTF-8.
 * - Rejects with `ProviderError` `other` without WebCrypto, and for credentials that no header can carry.
 */
export async function signatureHeaders(request: Signable, credentials: AwsCredentials, region: string): Promise<Record<string, string>> {
  const subtle: SubtleCrypto | undefined = crypto.subtle
  if (subtle === undefined) {
    throw new ProviderError(
      'other',
      'Signing for Amazon Bedrock needs WebCrypto, which browsers offer only on https and localhost. Use a proxy.',
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
