import { AwsV4Signer } from 'aws4fetch'
import { ProviderError } from '../../types/errors.ts'
import { headerCredential } from '../shared/endpoint.ts'
import type { AwsCredentials } from './credentials.ts'

/** What is signed. */
export interface Signable {
  url: string
  /** Names in lower case. Those that a proxy may change are left out of the signature. */
  headers: Record<string, string>
  body: string
}

/**
 * The headers that prove who sends `request` (AWS Signature Version 4, service `bedrock`), valid for five minutes by the clock of AWS.
 *
 * **Contract**
 * - Signed are the method, the path (encoded twice, as AWS asks for), the host, `content-type`, every `x-amz-…` header and the SHA-256 of
 *   exactly this body as UTF-8.
 * - Rejects with `ProviderError` `other` where there is no WebCrypto, and for credentials that no header can carry.
 *
 * Source: reference/providers.md §6 "Auth".
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
    'x-amz-content-sha256': hex(await subtle.digest('SHA-256', new TextEncoder().encode(request.body))),
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

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
